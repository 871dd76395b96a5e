#include "canopy-sim/svg_chart.hpp"

#include <array>
#include <cmath>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "base/assert.hpp"

namespace canopy::tools {

namespace {

constexpr double chart_width = 720;
constexpr double chart_height = 440;
constexpr double plot_left = 90;
constexpr double plot_right = 690;
constexpr double plot_top = 80;
constexpr double plot_bottom = 380;
constexpr double ticks_wanted = 6;

struct CurveStyle {
  std::string_view color;
  std::string_view dashes;
};
constexpr std::array<CurveStyle, 3> curve_styles{
    {{"#0072b2", "none"}, {"#d55e00", "8 4"}, {"#009e73", "2 3"}}};

// Where values of an axis lie between two ends in the picture.
class ChartScale {
 public:
  ChartScale(const ChartAxis& axis, double begin, double end)
      : axis_(axis), begin_(begin), end_(end) {}

  double at(double value) const {
    const double share = (raw(value) - raw(axis_.from)) / (raw(axis_.to) - raw(axis_.from));
    return begin_ + share * (end_ - begin_);
  }

  std::vector<double> ticks() const {
    return axis_.scale == ChartAxis::Scale::logarithmic ? powers_of_ten() : round_numbers();
  }

 private:
  double raw(double value) const {
    return axis_.scale == ChartAxis::Scale::logarithmic ? std::log10(value) : value;
  }

  std::vector<double> powers_of_ten() const {
    std::vector<double> ticks;
    for (double power = std::ceil(raw(axis_.from)); power <= raw(axis_.to); ++power) {
      ticks.push_back(std::pow(10, power));
    }
    return ticks;
  }

  // Multiples of 1, 2 or 5 times a power of ten.
  std::vector<double> round_numbers() const {
    const double rough = (axis_.to - axis_.from) / ticks_wanted;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    double step = 10 * power;
    for (const double factor : {5, 2, 1}) {
      if (factor * power >= rough) step = factor * power;
    }
    std::vector<double> ticks;
    const auto last = static_cast<std::int64_t>(std::floor(axis_.to / step + 1e-9));
    for (auto i = static_cast<std::int64_t>(std::ceil(axis_.from / step - 1e-9)); i <= last; ++i) {
      ticks.push_back(static_cast<double>(i) * step);
    }
    return ticks;
  }

  const ChartAxis& axis_;
  double begin_;
  double end_;
};

class SvgText {
 public:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string tick_text(double value) { return fmt::format("{:.9g}", value); }

void draw_axes(SvgText& svg, const ChartAxis& x, const ChartAxis& y) {
  const ChartScale across(x, plot_left, plot_right);
  const ChartScale up(y, plot_bottom, plot_top);
  for (const double tick : across.ticks()) {
    const double at = across.at(tick);
    svg.add(R"(<path class="grid" d="M{0:.1f} {1}V{2}"/>)", at, plot_top, plot_bottom);
    svg.add(R"(<text x="{:.1f}" y="{}" text-anchor="middle">{}</text>)", at, plot_bottom + 20,
            tick_text(tick));
  }
  for (const double tick : up.ticks()) {
    const double at = up.at(tick);
    svg.add(R"(<path class="grid" d="M{} {:.1f}H{}"/>)", plot_left, at, plot_right);
    svg.add(R"(<text x="{}" y="{:.1f}" text-anchor="end">{}</text>)", plot_left - 8, at + 4,
            tick_text(tick));
  }
  const double middle = (plot_top + plot_bottom) / 2;
  svg.add(R"(<path class="axis" d="M{0} {1}V{2}H{3}"/>)", plot_left, plot_top, plot_bottom,
          plot_right);
  svg.add(R"(<text x="{}" y="{}" text-anchor="middle">{}</text>)", (plot_left + plot_right) / 2,
          chart_height - 16, x.label);
  svg.add(R"svg(<text transform="translate(24 {}) rotate(-90)" text-anchor="middle">{}</text>)svg",
          middle, y.label);
}

// Points that fall on the same pixel as the one before are left out.
void draw_curve(SvgText& svg, const ChartAxis& x, const ChartAxis& y, const ChartCurve& curve,
                const CurveStyle& style) {
  const ChartScale across(x, plot_left, plot_right);
  const ChartScale up(y, plot_bottom, plot_top);
  std::string path;
  std::string before;
  for (const ChartPoint& point : curve.points) {
    const std::string at = fmt::format("{:.0f},{:.0f}", across.at(point.x), up.at(point.y));
    if (at != before) path += (path.empty() ? "" : " ") + at;
    before = at;
  }
  svg.add(R"(<polyline class="curve" stroke="{}" stroke-dasharray="{}" points="{}"/>)", style.color,
          style.dashes, path);
}

void draw_legend(SvgText& svg, const std::vector<ChartCurve>& curves) {
  constexpr double entry_width = 200;
  constexpr double line_width = 32;
  constexpr double baseline = 62;
  double left = plot_left;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    svg.add(R"(<path class="curve" stroke="{}" stroke-dasharray="{}" d="M{} {}h{}"/>)",
            curve_styles[i].color, curve_styles[i].dashes, left, baseline - 4, line_width);
    svg.add(R"(<text x="{}" y="{}">{}</text>)", left + line_width + 8, baseline, curves[i].name);
    left += entry_width;
  }
}

}  // namespace

std::string svg_chart(const std::string& title, const ChartAxis& x, const ChartAxis& y,
                      const std::vector<ChartCurve>& curves) {
  CANOPY_ASSERT(curves.size() <= curve_styles.size());
  SvgText svg;
  svg.add(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}">)",
      chart_width, chart_height);
  svg.add(
      "<style>text{{font:13px sans-serif;fill:#222}}.title{{font-size:16px}}"
      ".grid{{stroke:#ddd}}.axis{{stroke:#222;fill:none}}"
      ".curve{{stroke-width:2;fill:none}}</style>");
  svg.add(R"(<rect width="100%" height="100%" fill="#fff"/>)");
  svg.add(R"(<text class="title" x="{}" y="32">{}</text>)", plot_left, title);
  draw_axes(svg, x, y);
  for (std::size_t i = 0; i < curves.size(); ++i) draw_curve(svg, x, y, curves[i], curve_styles[i]);
  draw_legend(svg, curves);
  svg.add("</svg>");
  return svg.take();
}

std::string svg_below_each_other(const std::vector<std::string>& charts) {
  SvgText svg;
  svg.add(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}">)",
      chart_width, chart_height * static_cast<double>(charts.size()));
  for (std::size_t i = 0; i < charts.size(); ++i) {
    svg.add(R"svg(<g transform="translate(0 {})">)svg", chart_height * static_cast<double>(i));
    svg.add("{}</g>", charts[i]);
  }
  svg.add("</svg>");
  return svg.take();
}

}  // namespace canopy::tools

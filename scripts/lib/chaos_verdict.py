"""What members of a disturbed cluster have missed, for how long, and what promises were broken."""

import collections
import dataclasses
import itertools

UNKNOWN = float("inf")
EXAMPLES = 5
RECOVERY_S = 5.0  # after which a daemon that a fault has hit is like any other
# Ids that a node of a best-effort tree remembers of a group (tree_duplicate_window).
REMEMBERED = 128


@dataclasses.dataclass
class Pause:
    seconds: float = 0.0
    daemon: str = "-"
    begin: float = 0.0


@dataclasses.dataclass
class Damage:
    """Of one group, while one fault was on and until the next began."""
    pause: Pause
    missed: int = 0  # deliveries of acknowledged messages
    gaps: int = 0    # told
    lost: int = 0    # told


def covers(gap, following, place):
    """Whether the gap, behind which `following` came next, tells that `place` is missing."""
    first = (gap["epoch"], gap["first"])
    if gap["last"] is not None:  # else its end is not known
        return first <= place <= (gap["epoch"], gap["last"])
    return first <= place < following


def gaps_of(events):
    """Each gap with the place that was delivered next."""
    following, gaps = (UNKNOWN, 0), []
    for event in reversed(events):
        if event.kind == "message":
            following = event.data[1]
        elif event.kind == "gap":
            gaps.append((event.data, following))
    return gaps


def places_of(events):
    return [event.data[1] for event in events if event.kind == "message" and event.data[1][0]]


def around(events, place):
    """What came on either side of the place, and the gaps told between the two."""
    before, after, gaps = None, None, []
    for event in events:
        if event.kind == "gap":
            gaps.append(f"{event.data['epoch']}/{event.data['first']}-{event.data['last'] or ''}")
        elif event.kind == "message" and event.data[1][0]:
            if event.data[1] > place:
                after = event.data[1]
                break
            before, gaps = event.data[1], []
    return f"(between {before} and {after}; told: {', '.join(gaps) or 'nothing'})"


class Verdict:
    def __init__(self, sessions, publishers, groups, ordered, faults, span):
        self.sessions, self.publishers = sessions, publishers
        self.groups, self.ordered, self.faults = groups, ordered, faults
        self.begin, self.end = span
        self.broken = []
        self.repeated = collections.Counter()
        self.acked = {group: [item for publisher in publishers if publisher.group == group
                              for item in publisher.acked] for group in groups}

    def judge(self):
        self.check_order()
        self.check_acknowledged()
        self.check_duplicates()

    def breaks(self, what, cases):
        """One promise, with some of the cases."""
        if cases:
            more = f"; {len(cases) - EXAMPLES} more" if len(cases) > EXAMPLES else ""
            self.broken.append(f"{what}: {'; '.join(cases[:EXAMPLES])}{more}")

    # --- Promises ---

    def check_order(self):
        backwards, different, ids = [], [], {}
        for session in self.sessions:
            events = list(session.events[self.ordered])
            for before, after in itertools.pairwise(places_of(events)):
                if after <= before:
                    backwards.append(f"{session.daemon.name} had {after} after {before}")
            for event in events:
                if event.kind == "message":
                    key, place, _ = event.data
                    if ids.setdefault(place, key) != key:
                        different.append(f"{session.daemon.name} at {place}")
        self.breaks("messages of the ordered group out of order", backwards)
        self.breaks("two messages in one place of the order", different)
        untold = [case for session in self.sessions for case in self.holes(session)]
        self.breaks("holes in the order that nobody told", untold)

    def holes(self, session):
        """Places left out within an epoch that others have had something in, and no gap."""
        last, told = None, []
        for event in session.events[self.ordered]:
            if event.kind == "gap":
                told.append(event.data)
            elif event.kind == "message" and event.data[1][0]:
                place = event.data[1]
                if last and last[0] == place[0]:
                    missing = [(last[0], n) for n in range(last[1] + 1, place[1])]
                    # What all had in an earlier epoch may have a place here, too, and nobody
                    # gets it again.
                    if any(self.is_new(session, p) for p in missing
                           if not any(covers(gap, place, p) for gap in told)):
                        yield (f"{session.daemon.name} from {last} to {place} at "
                               f"{event.at - self.begin:.1f} s")
                last, told = place, []

    def is_new(self, session, place):
        if not hasattr(self, "key_at"):
            self.key_at = {event.data[1]: event.data[0] for other in self.sessions
                           for event in other.events[self.ordered] if event.kind == "message"}
        key = self.key_at.get(place)
        return key is not None and key not in session.delivered[self.ordered]

    def check_acknowledged(self):
        """Whoever was there has it, or was told: in the ordered group."""
        untold = []
        for session in self.sessions:
            events = list(session.events[self.ordered])
            places = places_of(events)
            if not places:
                continue
            gaps = gaps_of(events)
            upto = (UNKNOWN, 0) if session.ended is None else places[-1]
            for at, key, place in self.acked[self.ordered]:
                if not places[0] <= place <= upto or key in session.delivered[self.ordered]:
                    continue
                if not any(covers(gap, following, place) for gap, following in gaps):
                    untold.append(f"{session.daemon.name} lacks {place} of {at - self.begin:.1f} s "
                                  f"{around(events, place)}")
        self.breaks("acknowledged messages of the ordered group neither delivered nor told", untold)

    def check_duplicates(self):
        """Never in an ordered group; in a best-effort one as far as a tree remembers."""
        for group in self.groups:
            twice, window = [], UNKNOWN if group == self.ordered else REMEMBERED
            for session in self.sessions:
                apart = list(self.repeats(session, group))
                self.repeated[group] += len(apart)
                soon = [span for span in apart if span < window]
                if soon:
                    twice.append(f"{session.daemon.name} {len(soon)} times")
            self.breaks(f"messages of {group} delivered twice", twice)

    @staticmethod
    def repeats(session, group):
        """For each message that came again, how many others came between."""
        seen = {}
        messages = [event for event in list(session.events[group]) if event.kind == "message"]
        for number, event in enumerate(messages):
            key = event.data[0]
            if key in seen:
                yield number - seen[key]
            seen[key] = number

    # --- Damage ---

    def windows(self):
        """Each fault, from its beginning until the next one's."""
        begins = [fault.began_at for fault in self.faults] + [self.end]
        return list(zip(self.faults, begins, begins[1:]))

    def damages(self, group):
        missed = [at for session in self.sessions for at in self.missed_by(session, group)]
        result = []
        for fault, begin, until in self.windows():
            damage = Damage(Pause())
            for session in self.sessions:
                damage.pause = max(damage.pause, self.pause_of(session, group, begin, until),
                                   key=lambda pause: pause.seconds)
                for event in list(session.events[group]):
                    if begin <= event.at < until:
                        damage.gaps += event.kind == "gap"
                        damage.lost += event.data["count"] if event.kind == "lost" else 0
            damage.missed = sum(begin <= at < until for at in missed)
            result.append(damage)
        return result

    def pause_of(self, session, group, begin, until):
        """The longest time without a message that began in the window."""
        times = [event.at for event in list(session.events[group]) if event.kind == "message"]
        if times:
            times.append(min(session.ended or self.end, self.end))
        worst = Pause()
        for before, after in itertools.pairwise(times):
            # One that was cut off in the middle of it is of both.
            start = max(before, begin)
            if start < min(after, until) and after - start > worst.seconds \
                    and not self.was_hit(session.daemon, start, after):
                worst = Pause(after - start, session.daemon.name, start)
        return worst

    def was_hit(self, daemon, begin, end):
        """By a fault of its own, which explains why it got nothing."""
        return any(fault.hosts == (daemon.host,) and fault.began_at < end
                   and begin < fault.ended_at + RECOVERY_S for fault in self.faults)

    def missed_by(self, session, group):
        """When what this session never got was acknowledged, while it was there."""
        times = [event.at for event in list(session.events[group]) if event.kind == "message"]
        if not times:
            return
        until = times[-1] if session.ended else UNKNOWN
        for at, key, _ in self.acked[group]:
            if times[0] + 1 < at < until and key not in session.delivered[group]:
                yield at

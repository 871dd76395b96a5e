#!/usr/bin/env python3
"""An independent reading of the worked examples' rules, to hold the simulator against.

It computes what `canopy-sim scenario FILE` must print for `"tables": "ideal"`
straight from the definitions (global knowledge, no messages), so it shares no
code and no method with what it checks.

  scenario_oracle.py FILE             prints the expected lines
  scenario_oracle.py --generate SEED  prints a random scenario
"""
import hashlib
import json
import math
import random
import sys


class Network:
    def __init__(self, scenario):
        self.bits, self.b = scenario["id_bits"], scenario["b"]
        self.half = scenario["leaf_set_size"] // 2
        self.neighbors = scenario["neighborhood_size"]
        self.ring = 1 << self.bits
        self.position, self.by_name = {}, {}
        for node in scenario["nodes"]:
            i = self.hash(node["name"])
            self.position[i] = (node["x"], node["y"])
            self.by_name[node["name"]] = i
        self.live = sorted(self.position)
        self.table = {n: self.ideal_table(n) for n in self.live}
        self.near = {n: sorted((m for m in self.live if m != n),
                               key=lambda m: (self.distance(n, m), m))[:self.neighbors]
                     for n in self.live}

    def hash(self, text):
        return int.from_bytes(hashlib.sha1(text.encode()).digest(), "big") >> (160 - self.bits)

    def hex(self, i):
        return format(i, "0%dx" % (self.bits // 4))

    def node(self, text):
        return self.by_name[text] if text in self.by_name else int(text, 16)

    def distance(self, a, b):
        return math.dist(self.position[a], self.position[b])

    def digit(self, i, row):
        return i >> (self.bits - (row + 1) * self.b) & ((1 << self.b) - 1)

    def prefix(self, a, b):
        row = 0
        while row < self.bits // self.b and self.digit(a, row) == self.digit(b, row):
            row += 1
        return row

    def ideal_table(self, n):
        table = {}
        for m in self.live:
            if m != n:
                slot = (self.prefix(n, m), self.digit(m, self.prefix(n, m)))
                rank = (self.distance(n, m), m)
                if slot not in table or rank < table[slot][0]:
                    table[slot] = (rank, m)
        return {slot: m for slot, (_, m) in table.items()}

    def ring_distance(self, a, b):
        return min((a - b) % self.ring, (b - a) % self.ring)

    def closest(self, nodes, key):
        return min(nodes, key=lambda n: (self.ring_distance(n, key), n))

    def leaves(self, n):
        others = [m for m in self.live if m != n]
        up = sorted(others, key=lambda m: (m - n) % self.ring)[:self.half]
        down = sorted(others, key=lambda m: (n - m) % self.ring)[:self.half]
        return up, down, len(others) == len(set(up) | set(down))

    def next_hop(self, n, key):
        """The next node on the way from n to the key's root; n itself at the root."""
        up, down, everybody = self.leaves(n)
        in_range = everybody or (key - down[-1]) % self.ring <= (up[-1] - down[-1]) % self.ring
        if in_range:
            return self.closest(set(up) | set(down) | {n}, key)
        row = self.prefix(n, key)
        entry = self.table[n].get((row, self.digit(key, row)))
        if entry in self.live:
            return entry
        known = (set(up) | set(down) | set(self.table[n].values()) | set(self.near[n]))
        better = [m for m in known if m in self.live and self.prefix(m, key) >= row
                  and self.ring_distance(m, key) < self.ring_distance(n, key)]
        return self.closest(better, key) if better else n

    def route(self, n, key):
        hops = []
        while (following := self.next_hop(n, key)) != n:
            hops.append(following)
            n = following
        return hops

    def root(self, key):
        return self.closest(self.live, key)


class Group:
    def __init__(self, network, name, creator):
        self.net = network
        self.key = network.hash(name + creator)
        self.members, self.parent, self.children, self.cache = set(), {}, {}, {}

    def in_tree(self, n):
        return n == self.net.root(self.key) or n in self.parent or n in self.members

    def attach(self, n):
        """Routes n's JOIN; returns the hops it took."""
        hops = []
        while True:
            following = self.net.next_hop(n, self.key)
            if following == n:
                return hops
            known = self.in_tree(following)
            hops.append(following)
            self.parent[n] = following
            self.children.setdefault(following, []).append(n)
            if known:
                return hops
            n = following

    def prune(self, n):
        removed = []
        while (n not in self.members and not self.children.get(n)
               and n != self.net.root(self.key) and n in self.parent):
            up = self.parent.pop(n)
            self.children[up].remove(n)
            removed.append(n)
            n = up
        return removed

    def down(self):
        """(parent, child) edges from the root, in no particular order."""
        stack, edges = [self.net.root(self.key)], []
        while stack:
            n = stack.pop()
            for child in self.children.get(n, []):
                edges.append((n, child))
                if len(edges) > len(self.net.live):
                    raise ValueError("the rules lead to a cycle")
                stack.append(child)
        return edges


class Runner:
    def __init__(self, scenario):
        self.net, self.groups = Network(scenario), {}
        self.steps = scenario["steps"]

    def run(self):
        for step in self.steps:
            yield {"op": step["op"], **getattr(self, step["op"])(step)}

    def hexes(self, nodes):
        return [self.net.hex(n) for n in nodes]

    def create(self, step):
        group = self.groups[step["group"]] = Group(self.net, step["group"], step["creator"])
        return {"group_id": self.net.hex(group.key), "root": self.net.hex(self.net.root(group.key))}

    def route(self, step):
        return {"route": self.hexes(self.net.route(self.net.node(step["node"]),
                                                   int(step["key"], 16)))}

    def join(self, step):
        group, n = self.groups[step["group"]], self.net.node(step["node"])
        route, known = self.net.route(n, group.key), group.in_tree(n)
        group.members.add(n)
        hops = [] if known else group.attach(n)
        return {"node": self.net.hex(n), "route": self.hexes(route), "joins_sent": len(hops),
                "stopped_at": self.net.hex(hops[-1] if hops else n)}

    def leave(self, step):
        group, n = self.groups[step["group"]], self.net.node(step["node"])
        group.members.discard(n)
        removed = group.prune(n)
        return {"node": self.net.hex(n), "leaves_sent": len(removed),
                "removed": self.hexes(removed)}

    def publish(self, step):
        group, n = self.groups[step["group"]], self.net.node(step["node"])
        root = self.net.root(group.key)
        if n == root:
            route = []
        elif group.cache.get(n) == root:
            route = [root]
        else:
            route = self.net.route(n, group.key)
        group.cache[n] = root
        edges = group.down()
        copies = {}
        for parent, _ in edges:
            copies[parent] = copies.get(parent, 0) + 1
        reached = {root} | {child for _, child in edges}
        return {"node": self.net.hex(n), "route": self.hexes(route),
                "root_copies": copies.get(root, 0), "edges": len(edges),
                "max_copies": max(copies.values(), default=0),
                "delivered": self.hexes(sorted(reached & group.members))}

    def fail(self, step):
        dead = self.net.node(step["node"])
        self.net.live.remove(dead)
        rejoins, roots = {}, {}
        for name, group in self.groups.items():
            orphans = group.children.pop(dead, [])
            group.members.discard(dead)
            up = group.parent.pop(dead, None)
            if up is not None:
                group.children[up].remove(dead)
            root = self.net.root(group.key)
            if group.parent.get(root, dead) != dead:  # the root now has no parent any more
                up_of_root = group.parent.pop(root)
                group.children[up_of_root].remove(root)
                group.prune(up_of_root)
            rejoins[name] = {}
            for orphan in orphans:  # those not told yet still take themselves for attached
                group.parent.pop(orphan)
                hops = group.attach(orphan) if orphan != self.net.root(group.key) else []
                if hops:
                    rejoins[name][self.net.hex(orphan)] = self.hexes(hops)
            if up is not None:
                group.prune(up)
            roots[name] = self.net.hex(self.net.root(group.key))
        return {"node": self.net.hex(dead), "rejoins": rejoins, "roots": roots}

    def tree(self, step):
        group = self.groups[step["group"]]
        root, edges = self.net.root(group.key), group.down()
        along, depth = {root: 0.0}, {root: 0}
        for parent, child in edges:  # parents come first
            along[child] = along[parent] + self.net.distance(parent, child)
            depth[child] = depth[parent] + 1
        nodes = set(along)
        unicast = sum(self.net.distance(root, m) for m in group.members)
        children = {self.net.hex(p): sorted(self.hexes(c))
                    for p, c in sorted(group.children.items()) if c}
        return {"root": self.net.hex(root), "nodes": len(nodes), "members": len(group.members),
                "forwarders": len(nodes - group.members - {root}), "children": children,
                "depth": max(depth.values()),
                "tree_distance": round(sum(self.net.distance(p, c) for p, c in edges), 3),
                "unicast_distance": round(unicast, 3),
                "delay_ratio": round(sum(along[m] for m in group.members) / unicast, 4)
                if unicast else 0.0}


def generate(seed):
    rng = random.Random(seed)
    bits = rng.choice([16, 24, 32, 64, 160])
    b = rng.choice([d for d in range(1, 9) if bits % d == 0])
    count = rng.choice([3, 5, 8, 20, 64, 150])
    names, ids = [], set()
    while len(names) < count:
        name = "%s-%d" % (rng.choice(["peer", "host", "n"]), rng.randrange(10 ** 6))
        i = hashlib.sha1(name.encode()).hexdigest()[:bits // 4]
        if i not in ids:
            ids.add(i)
            names.append(name)
    hexes = {n: hashlib.sha1(n.encode()).hexdigest()[:bits // 4] for n in names}
    call = lambda n: rng.choice([n, hexes[n]])
    live, groups, steps, members = list(names), [], [], {}
    for _ in range(rng.randrange(1, 4)):
        group = "group-%d" % len(groups)
        groups.append(group)
        members[group] = []
        steps.append({"op": "create", "group": group, "creator": rng.choice(names)})
    for _ in range(rng.randrange(10, 60)):
        op = rng.choices(["join", "publish", "leave", "fail", "tree", "route"],
                         [10, 4, 3, 2 if len(live) > 3 else 0, 2, 2])[0]
        group, node = rng.choice(groups), rng.choice(live)
        if op == "route":
            key = "%0*x" % (bits // 4, rng.getrandbits(bits))
            steps.append({"op": op, "node": call(node), "key": key})
        elif op == "tree":
            steps.append({"op": op, "group": group})
        elif op == "fail":
            live.remove(node)
            for m in members.values():
                if node in m:
                    m.remove(node)
            steps.append({"op": op, "node": call(node)})
        elif op == "leave":
            if members[group]:
                node = rng.choice(members[group])
                members[group].remove(node)
                steps.append({"op": op, "group": group, "node": call(node)})
        else:
            if op == "join":
                if node in members[group]:
                    continue
                members[group].append(node)
            steps.append({"op": op, "group": group, "node": call(node)})
    for group in groups:
        steps.append({"op": "tree", "group": group})
    return {"id_bits": bits, "b": b, "leaf_set_size": rng.choice([2, 4, 8, 16]),
            "neighborhood_size": rng.choice([2, 4, 8, 32]), "tables": "ideal",
            "nodes": [{"name": n, "x": rng.randrange(1000), "y": rng.randrange(1000)}
                      for n in names],
            "steps": steps}


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "--generate":
        print(json.dumps(generate(int(arguments[1])), indent=1))
    elif len(arguments) == 1:
        with open(arguments[0], encoding="utf-8") as file:
            for line in Runner(json.load(file)).run():
                print(json.dumps(line))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])

// Where the vertices go: forces between them, each part that hangs together for itself, the largest turned so that it
// fills the window and the others beside it.
import Graph from "graphology";
import forceAtlas2, { type ForceAtlas2Settings } from "graphology-layout-forceatlas2";

export interface Task {
  run: number;
  /** x and y of each vertex in turn. */
  positions: Float32Array;
  /** Numbers of two vertices in turn. */
  edges: Uint32Array;
  milliseconds: number;
  /** Whether there is more room below each other than beside each other. */
  upright: boolean;
}

interface Part {
  members: number[];
  graph: Graph;
  settings: ForceAtlas2Settings;
}

const MANY = 600; // vertices
const HUB = 20; // lines of one vertex
const APART = 1.4; // between parts, in lengths of a line

export class Forces {
  private readonly parts: Part[];
  private readonly number: number;
  private readonly upright: boolean;
  private angle = 0;

  constructor(task: Task) {
    this.number = task.positions.length / 2;
    this.upright = task.upright;
    this.parts = componentsOf(this.number, task.edges)
      .map((members) => partOf(members, task))
      .sort((a, b) => b.members.length - a.members.length || (a.members[0] ?? 0) - (b.members[0] ?? 0));
    const known = new Map(this.parts.flatMap((part) => part.members.map((member) => [member, part.graph])));
    const degrees = new Uint32Array(this.number);
    for (const end of task.edges) degrees[end] = (degrees[end] ?? 0) + 1;
    for (let place = 0; place < task.edges.length; place += 2) {
      const [from, to] = [task.edges[place] ?? 0, task.edges[place + 1] ?? 0];
      if (from === to) continue;
      // a line pulls the less the more lines its first end has: from a hub, a name with one line would drift far away
      const isHub = (degrees[from] ?? 0) > HUB && (degrees[from] ?? 0) > (degrees[to] ?? 0);
      known.get(from)?.mergeEdge(isHub ? to : from, isHub ? from : to);
    }
  }

  /** Lets the forces work: where the vertices are then. */
  work(iterations: number): Float32Array {
    const positions = new Float32Array(2 * this.number);
    for (const { graph, settings } of this.parts) {
      if (graph.order > 1) forceAtlas2.assign(graph, { iterations, settings });
      graph.forEachNode((id, { x, y }) => {
        positions[2 * Number(id)] = x as number;
        positions[2 * Number(id) + 1] = y as number;
      });
    }
    const largest = this.parts[0];
    if (largest !== undefined && largest.members.length > 2) {
      this.angle = turn(positions, largest.members, this.upright ? Math.PI / 2 : 0, this.angle);
    }
    this.pack(positions);
    return positions;
  }

  /** Puts the parts beside each other: the smaller ones in columns, or in rows below if there is more room. */
  private pack(positions: Float32Array): void {
    const [across, down] = this.upright ? [1, 0] : [0, 1];
    const gap = APART * lengthOf(this.parts[0]?.graph);
    const boxes = this.parts.map(({ members }) => boxOf(positions, members));
    const first = boxes[0];
    if (first === undefined) return;
    const length = Math.max(first.size[down] ?? 0, (first.size[across] ?? 0) * 0.4, 6 * gap);
    let along = 0;
    let beside = (first.size[across] ?? 0) + gap;
    let thickest = 0;
    boxes.forEach((box, number) => {
      const size = [Math.max(box.size[across] ?? 0, gap / 2), Math.max(box.size[down] ?? 0, gap / 2)] as const;
      let to = [0, 0];
      if (number > 0) {
        if (along > 0 && along + size[1] > length) {
          beside += thickest + gap;
          [along, thickest] = [0, 0];
        }
        to = [beside, along];
        along += size[1] + gap;
        thickest = Math.max(thickest, size[0]);
      }
      for (const member of this.parts[number]?.members ?? []) {
        positions[2 * member + across] = (positions[2 * member + across] ?? 0) - (box.low[across] ?? 0) + (to[0] ?? 0);
        positions[2 * member + down] = (positions[2 * member + down] ?? 0) - (box.low[down] ?? 0) + (to[1] ?? 0);
      }
    });
  }
}

function partOf(members: number[], { positions }: Task): Part {
  const graph = new Graph({ type: "undirected", multi: false });
  for (const member of members) {
    graph.addNode(member, { x: positions[2 * member] ?? 0, y: positions[2 * member + 1] ?? 0, size: 1 });
  }
  const areFew = members.length <= MANY;
  const settings = {
    ...forceAtlas2.inferSettings(graph),
    barnesHutOptimize: !areFew,
    edgeWeightInfluence: 0,
    gravity: areFew ? 0.9 : 0.5,
    outboundAttractionDistribution: areFew,
    scalingRatio: 12,
    slowDown: 1 + Math.log(members.length) / 2,
    strongGravityMode: false,
  };
  return { members, graph, settings };
}

/** The parts that hang together. */
function componentsOf(number: number, edges: Uint32Array): number[][] {
  const parents = Array.from({ length: number }, (_, member) => member);
  const rootOf = (member: number): number => {
    let root = member;
    while (parents[root] !== root) root = parents[root] = parents[parents[root] ?? 0] ?? 0;
    return root;
  };
  for (let place = 0; place < edges.length; place += 2) {
    parents[rootOf(edges[place] ?? 0)] = rootOf(edges[place + 1] ?? 0);
  }
  const found = new Map<number, number[]>();
  for (let member = 0; member < number; member++) {
    const root = rootOf(member);
    const part = found.get(root);
    if (part === undefined) found.set(root, [member]);
    else part.push(member);
  }
  return [...found.values()];
}

/** How long a line of a graph is in the middle. */
function lengthOf(graph: Graph | undefined): number {
  const lengths: number[] = [];
  graph?.forEachEdge((_, __, ___, ____, from, to) => {
    lengths.push(Math.hypot((from["x"] as number) - (to["x"] as number), (from["y"] as number) - (to["y"] as number)));
  });
  lengths.sort((a, b) => a - b);
  return lengths[Math.floor(lengths.length / 2)] ?? 10;
}

function boxOf(positions: Float32Array, members: number[]): { low: [number, number]; size: [number, number] } {
  const low: [number, number] = [Infinity, Infinity];
  const high: [number, number] = [-Infinity, -Infinity];
  for (const member of members) {
    for (const side of [0, 1] as const) {
      const place = positions[2 * member + side] ?? 0;
      low[side] = Math.min(low[side], place);
      high[side] = Math.max(high[side], place);
    }
  }
  return { low, size: [high[0] - low[0], high[1] - low[1]] };
}

/** Turns some vertices so that they spread most in the direction `wanted`; by an angle near the one before. */
function turn(positions: Float32Array, members: number[], wanted: number, before: number): number {
  let [mx, my] = [0, 0];
  for (const member of members) {
    mx += (positions[2 * member] ?? 0) / members.length;
    my += (positions[2 * member + 1] ?? 0) / members.length;
  }
  let [xx, xy, yy] = [0, 0, 0];
  for (const member of members) {
    const [x, y] = [(positions[2 * member] ?? 0) - mx, (positions[2 * member + 1] ?? 0) - my];
    xx += x * x;
    xy += x * y;
    yy += y * y;
  }
  const widest = Math.atan2(2 * xy, xx - yy) / 2;
  let angle = wanted - widest;
  angle -= Math.PI * Math.round((angle - before) / Math.PI); // half a turn further is as good
  const [cosine, sine] = [Math.cos(angle), Math.sin(angle)];
  for (const member of members) {
    const [x, y] = [(positions[2 * member] ?? 0) - mx, (positions[2 * member + 1] ?? 0) - my];
    positions[2 * member] = cosine * x - sine * y;
    positions[2 * member + 1] = sine * x + cosine * y;
  }
  return angle;
}

// Where the vertices go: forces between them, turned so that they fill the window.
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

const MANY = 600; // vertices

export class Forces {
  private readonly graph = new Graph({ type: "undirected", multi: false });
  private readonly settings: ForceAtlas2Settings;
  private readonly wanted: number;
  private angle = 0;

  constructor(task: Task) {
    const { positions, edges } = task;
    for (let place = 0; place < positions.length; place += 2) {
      this.graph.addNode(place / 2, { x: positions[place] ?? 0, y: positions[place + 1] ?? 0, size: 1 });
    }
    for (let place = 0; place < edges.length; place += 2) {
      if (edges[place] !== edges[place + 1]) this.graph.mergeEdge(edges[place], edges[place + 1]);
    }
    const areFew = this.graph.order <= MANY;
    this.settings = {
      ...forceAtlas2.inferSettings(this.graph),
      barnesHutOptimize: !areFew,
      edgeWeightInfluence: 0,
      gravity: areFew ? 0.9 : 0.5,
      outboundAttractionDistribution: areFew,
      scalingRatio: 12,
      slowDown: 1 + Math.log(Math.max(this.graph.order, 1)) / 2,
      strongGravityMode: false,
    };
    this.wanted = task.upright ? Math.PI / 2 : 0;
  }

  /** Lets the forces work: where the vertices are then. */
  work(iterations: number): Float32Array {
    forceAtlas2.assign(this.graph, { iterations, settings: this.settings });
    const positions = new Float32Array(2 * this.graph.order);
    let place = 0;
    this.graph.forEachNode((_, { x, y }) => {
      positions[place++] = x as number;
      positions[place++] = y as number;
    });
    this.angle = turn(positions, this.wanted, this.angle);
    return positions;
  }
}

/** Turns the vertices so that they spread most in the direction `wanted`; by an angle near the one before. */
function turn(positions: Float32Array, wanted: number, before: number): number {
  const number = positions.length / 2;
  let [mx, my] = [0, 0];
  for (let place = 0; place < positions.length; place += 2) {
    mx += (positions[place] ?? 0) / number;
    my += (positions[place + 1] ?? 0) / number;
  }
  let [xx, xy, yy] = [0, 0, 0];
  for (let place = 0; place < positions.length; place += 2) {
    const [x, y] = [(positions[place] ?? 0) - mx, (positions[place + 1] ?? 0) - my];
    xx += x * x;
    xy += x * y;
    yy += y * y;
  }
  const widest = Math.atan2(2 * xy, xx - yy) / 2;
  let angle = wanted - widest;
  angle -= Math.PI * Math.round((angle - before) / Math.PI); // half a turn further is as good
  const [cosine, sine] = [Math.cos(angle), Math.sin(angle)];
  for (let place = 0; place < positions.length; place += 2) {
    const [x, y] = [(positions[place] ?? 0) - mx, (positions[place + 1] ?? 0) - my];
    positions[place] = cosine * x - sine * y;
    positions[place + 1] = sine * x + cosine * y;
  }
  return angle;
}

// Where the vertices go: forces, away from the page's own thread.
import Graph from "graphology";
import forceAtlas2 from "graphology-layout-forceatlas2";

export interface Task {
  run: number;
  ids: string[];
  /** x and y of each vertex in turn. */
  positions: Float32Array;
  /** Numbers of two vertices in turn. */
  edges: Uint32Array;
  milliseconds: number;
  /** Whether there is more room below each other than beside each other. */
  upright: boolean;
}

export interface Progress {
  run: number;
  positions: Float32Array;
  done: boolean;
}

const ROUND = 80; // milliseconds between two pictures
const MANY = 600; // vertices
let current = 0;

self.onmessage = async (event: MessageEvent<Task>): Promise<void> => {
  const task = event.data;
  current = task.run;
  const graph = new Graph({ type: "undirected", multi: false });
  task.ids.forEach((id, number) => {
    graph.addNode(id, { x: task.positions[2 * number] ?? 0, y: task.positions[2 * number + 1] ?? 0, size: 1 });
  });
  for (let place = 0; place < task.edges.length; place += 2) {
    const [from, to] = [task.ids[task.edges[place] ?? 0], task.ids[task.edges[place + 1] ?? 0]];
    if (from !== undefined && to !== undefined && from !== to) graph.mergeEdge(from, to);
  }
  const settings = {
    ...forceAtlas2.inferSettings(graph),
    barnesHutOptimize: graph.order > MANY,
    edgeWeightInfluence: 0,
    gravity: graph.order <= MANY ? 0.9 : 0.5,
    outboundAttractionDistribution: graph.order <= MANY,
    scalingRatio: 12,
    slowDown: 1 + Math.log(Math.max(graph.order, 1)) / 2,
    strongGravityMode: false,
  };
  const end = performance.now() + task.milliseconds;
  let iterations = 1;
  let angle = 0;
  for (;;) {
    const begun = performance.now();
    forceAtlas2.assign(graph, { iterations, settings });
    const took = performance.now() - begun;
    iterations = Math.max(1, Math.min(200, Math.round((iterations * ROUND) / Math.max(took, 1))));
    const done = performance.now() >= end;
    const positions = new Float32Array(2 * task.ids.length);
    task.ids.forEach((id, number) => {
      positions[2 * number] = graph.getNodeAttribute(id, "x") as number;
      positions[2 * number + 1] = graph.getNodeAttribute(id, "y") as number;
    });
    const progress: Progress = { run: task.run, positions, done };
    angle = turn(positions, task.upright ? Math.PI / 2 : 0, angle);
    self.postMessage(progress, { transfer: [positions.buffer] });
    if (done) return;
    await new Promise((resolve) => setTimeout(resolve)); // a newer task may have come
    if (current !== task.run) return;
  }
};

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

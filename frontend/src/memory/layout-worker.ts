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
    gravity: 0.5,
    // shows groups better, and takes too long to settle for many
    linLogMode: graph.order <= MANY,
    scalingRatio: graph.order <= MANY ? 4 : 12,
    slowDown: 1 + Math.log(Math.max(graph.order, 1)) / 2,
    strongGravityMode: false,
  };
  const end = performance.now() + task.milliseconds;
  let iterations = 1;
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
    self.postMessage(progress, { transfer: [positions.buffer] });
    if (done) return;
    await new Promise((resolve) => setTimeout(resolve)); // a newer task may have come
    if (current !== task.run) return;
  }
};

// The graph as it is drawn: WebGL, with what is selected in the light and the rest behind.
import { EdgeCurvedArrowProgram } from "@sigma/edge-curve";
import { MultiDirectedGraph } from "graphology";
import Sigma from "sigma";
import { EdgeArrowProgram } from "sigma/rendering";
import type { Settings } from "sigma/settings";
import type { EdgeDisplayData, NodeDisplayData } from "sigma/types";

import { isCalm, onTheme, type Theme, theme } from "../common/theme";
import { DashedEdgeProgram } from "./dashes";
import { type Edge, type Filters, statusAt, type Store, type Vertex } from "./data";
import { Forces, type Task } from "./forces";
import type { Progress } from "./layout-worker";

interface Place {
  x: number;
  y: number;
}

interface NodeAttributes extends Place {
  vertex: Vertex;
}

interface EdgeAttributes {
  edge: Edge;
  curvature: number;
}

type LabelPainter = Settings<NodeAttributes, EdgeAttributes>["defaultDrawNodeLabel"];

export interface Chosen {
  kind: "vertex" | "edge";
  id: string;
}

// sigma types its programs for attributes of any kind, and they read none of ours
const PROGRAMS = {
  arrow: EdgeArrowProgram,
  curved: EdgeCurvedArrowProgram,
  dashed: DashedEdgeProgram,
} as unknown as Settings<NodeAttributes, EdgeAttributes>["edgeProgramClasses"];

const FONT = 'system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif';
const SPREAD = 2.399963; // the golden angle: a spiral that fills a disc evenly
const LABEL = 34; // characters of the label of a name, unless one asks for it
const FEW = 250; // vertices of which every one may bear its label
const AT_ONCE = 60; // iterations of the forces before the first picture of few vertices
const LATER = 300; // milliseconds until the forces go on
const PARALLEL = 0.3; // how much the edges between two vertices bend apart

// scripts may only be loaded through a policy; this one knows a single script
const policy =
  "trustedTypes" in window
    ? (
        window as unknown as {
          trustedTypes: { createPolicy: (n: string, r: object) => { createScriptURL(u: string): string } };
        }
      ).trustedTypes.createPolicy("worldthread", { createScriptURL: () => "/static/layout.js" })
    : { createScriptURL: () => "/static/layout.js" };

export class Drawing {
  private readonly graph = new MultiDirectedGraph<NodeAttributes, EdgeAttributes>();
  private readonly sigma: Sigma<NodeAttributes, EdgeAttributes>;
  private readonly worker = new Worker(policy.createScriptURL(""), { type: "module" });
  private colours: Theme = theme();
  private relationColours = new Map<string, string>();
  private shownEdges = new Set<string>();
  private shownVertices = new Set<string>();
  private lit: Set<string> | null = null;
  private hovered: string | null = null;
  private chosen: Chosen | null = null;
  private areFew = false;
  private run = 0;

  constructor(
    container: HTMLElement,
    private readonly store: Store,
    private readonly filters: Filters,
    private readonly onChoice: (chosen: Chosen | null) => void,
    onExpand: (id: string) => void,
  ) {
    this.sigma = new Sigma<NodeAttributes, EdgeAttributes>(this.graph, container, {
      allowInvalidContainer: true,
      defaultEdgeType: "arrow",
      edgeProgramClasses: PROGRAMS,
      enableEdgeEvents: true,
      labelFont: FONT,
      labelSize: 12,
      labelWeight: "500",
      labelDensity: 0.6,
      labelGridCellSize: 110,
      labelRenderedSizeThreshold: 4,
      edgeLabelFont: FONT,
      edgeLabelSize: 11,
      renderEdgeLabels: true,
      hideEdgesOnMove: false,
      minEdgeThickness: 0.7,
      stagePadding: 56,
      zIndex: true,
      minCameraRatio: 0.01,
      maxCameraRatio: 4,
      nodeReducer: (id, data) => this.shownVertex(id, data),
      edgeReducer: (id, data) => this.shownEdge(id, data),
      defaultDrawNodeLabel: (context, data, settings) => this.paintLabel(context, data, settings),
      defaultDrawNodeHover: (context, data, settings) => this.paintHover(context, data, settings),
    });
    this.listen(container, onExpand);
    this.worker.onmessage = (event: MessageEvent<Progress>) => this.move(event.data);
    onTheme(() => {
      this.paint();
      this.redraw();
    });
    this.paint();
  }

  private listen(container: HTMLElement, onExpand: (id: string) => void): void {
    const sigma = this.sigma;
    sigma.on("clickNode", ({ node }) => this.onChoice({ kind: "vertex", id: node }));
    sigma.on("clickEdge", ({ edge }) => this.onChoice({ kind: "edge", id: edge }));
    sigma.on("clickStage", () => this.onChoice(null));
    sigma.on("doubleClickNode", ({ node, preventSigmaDefault }) => {
      preventSigmaDefault();
      onExpand(node);
    });
    sigma.on("enterNode", ({ node }) => this.hover(node, container));
    sigma.on("leaveNode", () => this.hover(null, container));
    sigma.on("enterEdge", () => container.classList.add("pointing"));
    sigma.on("leaveEdge", () => container.classList.remove("pointing"));
    let dragged: string | null = null;
    sigma.on("downNode", ({ node }) => {
      dragged = node;
      if (!sigma.getCustomBBox()) sigma.setCustomBBox(sigma.getBBox());
    });
    sigma.on("moveBody", ({ event }) => {
      if (dragged === null) return;
      this.run += 1; // what the worker still thinks is out of date
      const place = sigma.viewportToGraph(event);
      this.graph.mergeNodeAttributes(dragged, { x: place.x, y: place.y });
      event.preventSigmaDefault();
      event.original.preventDefault();
    });
    const drop = (): void => {
      dragged = null;
    };
    sigma.on("upNode", drop);
    sigma.on("upStage", drop);
  }

  /** Takes in what the store has and the drawing has not, around a vertex that is there if one is given. */
  grow(fresh: Vertex[], around: string | null): void {
    const centre = around !== null && this.graph.hasNode(around) ? this.graph.getNodeAttributes(around) : null;
    const step = centre === null ? 10 : 4;
    fresh.forEach((vertex, number) => {
      const distance = step * Math.sqrt(number + (centre === null ? 0 : 2));
      this.graph.addNode(vertex.id, {
        vertex,
        x: (centre?.x ?? 0) + distance * Math.cos(number * SPREAD),
        y: (centre?.y ?? 0) + distance * Math.sin(number * SPREAD),
      });
    });
    const parallel = new Map<string, Edge[]>();
    for (const edge of this.store.edges.values()) {
      const pair = edge.from < edge.to ? `${edge.from}\n${edge.to}` : `${edge.to}\n${edge.from}`;
      const found = parallel.get(pair);
      if (found === undefined) parallel.set(pair, [edge]);
      else found.push(edge);
    }
    for (const edges of parallel.values()) {
      edges.forEach((edge, number) => {
        const side = edge.from < edge.to ? 1 : -1;
        const curvature = edges.length === 1 ? 0 : side * (number - (edges.length - 1) / 2) * PARALLEL;
        if (!this.graph.hasEdge(edge.id)) this.graph.addEdgeWithKey(edge.id, edge.from, edge.to, { edge, curvature });
        else if (this.graph.getEdgeAttribute(edge.id, "curvature") !== curvature) {
          this.graph.setEdgeAttribute(edge.id, "curvature", curvature);
        }
      });
    }
    this.relationColours = coloursOf(this.store.relations(), this.colours);
    this.redraw();
    this.arrange();
  }

  clear(): void {
    this.run += 1;
    this.graph.clear();
    this.sigma.setCustomBBox(null);
    this.sigma.getCamera().setState({ x: 0.5, y: 0.5, ratio: 1, angle: 0 });
  }

  /** Lets forces move the vertices for a while. */
  arrange(): void {
    this.sigma.setCustomBBox(null);
    const ids = this.graph.nodes();
    const numbers = new Map(ids.map((id, number) => [id, number]));
    const positions = new Float32Array(2 * ids.length);
    ids.forEach((id, number) => {
      const { x, y } = this.graph.getNodeAttributes(id);
      positions[2 * number] = x;
      positions[2 * number + 1] = y;
    });
    const edges = new Uint32Array(2 * this.graph.size);
    let place = 0;
    this.graph.forEachEdge((_, __, from, to) => {
      edges[place++] = numbers.get(from) ?? 0;
      edges[place++] = numbers.get(to) ?? 0;
    });
    this.run += 1;
    const { width, height } = this.sigma.getDimensions();
    const task: Task = {
      run: this.run,
      positions,
      edges,
      milliseconds: ids.length < FEW ? 700 : Math.min(6000, 1500 + ids.length),
      upright: height > width,
    };
    document.body.dataset["layout"] = "going";
    if (ids.length > FEW) {
      this.worker.postMessage(task, [positions.buffer, edges.buffer]);
      return;
    }
    // few are put into place at once; the rest can wait until they were drawn
    this.place((task.positions = new Forces(task).work(AT_ONCE)));
    setTimeout(() => {
      if (task.run === this.run) this.worker.postMessage(task);
    }, LATER);
  }

  private place(positions: Float32Array): void {
    let next = 0;
    this.graph.updateEachNodeAttributes(
      (_, attributes) => ({ ...attributes, x: positions[next++] ?? 0, y: positions[next++] ?? 0 }),
      { attributes: ["x", "y"] },
    );
  }

  private move(progress: Progress): void {
    if (progress.run !== this.run || (isCalm() && !progress.done)) return;
    this.place(progress.positions);
    if (progress.done) document.body.dataset["layout"] = "done";
  }

  private paint(): void {
    this.colours = theme();
    this.sigma.setSetting("labelColor", { color: this.colours.ink });
    this.sigma.setSetting("edgeLabelColor", { color: this.colours.muted });
    this.relationColours = coloursOf(this.store.relations(), this.colours);
  }

  /** Shows the filters, the moment and the choice as they are now. */
  redraw(): void {
    this.shownEdges.clear();
    this.shownVertices.clear();
    const tied = new Set<string>();
    for (const edge of this.store.edges.values()) {
      tied.add(edge.from).add(edge.to);
      if (!this.filters.shows(edge)) continue;
      this.shownEdges.add(edge.id);
      this.shownVertices.add(edge.from).add(edge.to);
    }
    for (const vertex of this.store.vertices.values()) {
      if (!tied.has(vertex.id) && vertex.kind === "entity") this.shownVertices.add(vertex.id);
    }
    const areFew = this.shownVertices.size < FEW;
    if (areFew !== this.areFew) {
      this.areFew = areFew;
      this.sigma.setSetting("labelDensity", areFew ? 3 : 0.6);
      this.sigma.setSetting("labelRenderedSizeThreshold", areFew ? 0 : 4);
    }
    this.light();
    this.sigma.scheduleRefresh();
  }

  /** How much is to be seen. */
  shown(): { vertices: number; edges: number } {
    return { vertices: this.shownVertices.size, edges: this.shownEdges.size };
  }

  relationColour(relation: string): string {
    return this.relationColours.get(relation) ?? this.colours.muted;
  }

  /** Puts a vertex or an edge, with its neighbours, in the light. */
  choose(chosen: Chosen | null): void {
    this.chosen = chosen;
    this.light();
    this.sigma.scheduleRefresh();
  }

  private light(): void {
    const chosen = this.chosen;
    this.lit = null;
    if (chosen?.kind === "vertex" && this.graph.hasNode(chosen.id)) {
      this.lit = new Set([chosen.id]);
      this.graph.forEachEdge(chosen.id, (edge, _, from, to) => {
        if (this.shownEdges.has(edge)) this.lit?.add(edge).add(from).add(to);
      });
    } else if (chosen?.kind === "edge" && this.graph.hasEdge(chosen.id)) {
      this.lit = new Set([chosen.id, ...this.graph.extremities(chosen.id)]);
    }
  }

  /** Brings a vertex to the middle of the picture. */
  async lookAt(id: string): Promise<void> {
    const camera = this.sigma.getCamera();
    if (this.graph.order <= FEW && camera.ratio >= 1) return; // all of them are in view
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))); // it may be new
    const place = this.sigma.getNodeDisplayData(id);
    if (place === undefined) return;
    const target = { x: place.x, y: place.y, ratio: Math.min(camera.ratio, this.graph.order > FEW ? 0.35 : 0.8) };
    await camera.animate(target, { duration: isCalm() ? 0 : 400 });
  }

  zoom(factor: number): void {
    const camera = this.sigma.getCamera();
    void camera.animate({ ratio: camera.getBoundedRatio(camera.ratio * factor) }, { duration: isCalm() ? 0 : 150 });
  }

  fit(): void {
    void this.sigma.getCamera().animatedReset({ duration: isCalm() ? 0 : 300 });
  }

  private hover(id: string | null, container: HTMLElement): void {
    this.hovered = id;
    container.classList.toggle("pointing", id !== null);
  }

  private shownVertex(id: string, { vertex, x, y }: NodeAttributes): Partial<NodeDisplayData> {
    const hidden = !this.shownVertices.has(id);
    const isLit = this.lit === null || this.lit.has(id);
    const isChosen = this.chosen?.id === id;
    const { colours } = this;
    const base = vertex.kind === "entity" ? 3 + 1.5 * Math.sqrt(vertex.weight) : 3.5;
    // many vertices are small ones, so that the lines between them are seen
    const scale = Math.max(0.28, Math.min(1, Math.sqrt(FEW / Math.max(this.shownVertices.size, 1))));
    return {
      x,
      y,
      hidden,
      label:
        isLit || this.hovered === id
          ? isChosen || this.hovered === id
            ? vertex.label
            : shortened(vertex.label, vertex.kind === "entity" ? LABEL : LABEL / 2)
          : null,
      color: isLit ? colours[vertex.kind] : colours.faint,
      size: Math.min(base, 15) * scale + (isChosen ? 3 : 0),
      forceLabel: isChosen || (this.lit !== null && isLit && this.lit.size < 80),
      highlighted: isChosen,
      zIndex: isLit ? 1 : 0,
    };
  }

  private shownEdge(id: string, { edge, curvature }: EdgeAttributes): Partial<EdgeDisplayData> & { curvature: number } {
    const isLit = this.lit === null || this.lit.has(id);
    const hasEnded = statusAt(edge.held, this.filters.moment) === "ended";
    const { colours } = this;
    const colour =
      edge.kind === "fact"
        ? this.relationColour(edge.relation)
        : edge.kind === "thesis"
          ? colours.thesis
          : colours.episode;
    return {
      hidden: !this.shownEdges.has(id),
      type: hasEnded ? "dashed" : curvature !== 0 ? "curved" : "arrow",
      curvature,
      color: !isLit ? colours.faint : hasEnded ? colours.ended : colour,
      size: isLit && this.lit !== null ? 2 : this.shownVertices.size < FEW ? 1.5 : 0.8,
      label: isLit && this.lit !== null && this.lit.size < 120 ? edge.relation + (hasEnded ? " (ended)" : "") : "",
      zIndex: isLit ? 1 : 0,
    };
  }

  private readonly paintLabel: LabelPainter = (context, data, settings) => {
    if (!data.label) return;
    context.font = `${settings.labelWeight} ${settings.labelSize}px ${settings.labelFont}`;
    const x = data.x + data.size + 4;
    const y = data.y + settings.labelSize / 3;
    context.lineWidth = 3;
    context.lineJoin = "round";
    context.strokeStyle = this.colours.surface;
    context.strokeText(data.label, x, y);
    context.fillStyle = this.colours.ink;
    context.fillText(data.label, x, y);
  };

  private readonly paintHover: LabelPainter = (context, data, settings) => {
    context.beginPath();
    context.arc(data.x, data.y, data.size + 3, 0, 2 * Math.PI);
    context.lineWidth = 2;
    context.strokeStyle = this.colours.accent;
    context.stroke();
    this.paintLabel(context, data, settings);
  };
}

function shortened(label: string, most: number): string {
  return label.length <= most ? label : `${label.slice(0, most - 1).trimEnd()}…`;
}

/** The most frequent relations get colours of their own, the rest share one. */
function coloursOf(relations: [string, number][], colours: Theme): Map<string, string> {
  return new Map(relations.map(([name], number) => [name, colours.relations[number] ?? colours.muted]));
}

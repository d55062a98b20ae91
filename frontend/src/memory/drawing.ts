// The graph as it is drawn: WebGL, with what is selected in the light and the rest behind.
import { EdgeCurvedArrowProgram } from "@sigma/edge-curve";
import { MultiDirectedGraph } from "graphology";
import Sigma from "sigma";
import { EdgeArrowProgram } from "sigma/rendering";
import type { Settings } from "sigma/settings";
import type { EdgeDisplayData, NodeDisplayData } from "sigma/types";

import { count } from "../common/dom";
import { isCalm, onTheme, relationNumber, type Theme, theme } from "../common/theme";
import { clusterPlaces } from "./cluster-layout";
import { DashedEdgeProgram } from "./dashes";
import { type Edge, type Filters, type Kind, statusAt, type Store, type Vertex } from "./data";
import { Forces, type Task } from "./forces";
import { LabelPainter } from "./labels";
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

export interface Chosen {
  kind: "vertex" | "edge";
  id: string;
}

/** What is in the light: a vertex with its neighbourhood, an edge, or the evidence of an answer. */
export type Light = Chosen | { kind: "evidence"; ids: string[] };

// sigma types its programs for attributes of any kind, and they read none of ours
const PROGRAMS = {
  arrow: EdgeArrowProgram,
  curved: EdgeCurvedArrowProgram,
  dashed: DashedEdgeProgram,
} as unknown as Settings<NodeAttributes, EdgeAttributes>["edgeProgramClasses"];

/** The camera that has everything in its picture. */
const WHOLE = { cameraState: { x: 0.5, y: 0.5, ratio: 1, angle: 0 } };
const FONT = 'system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif';
const NAME_FONT = `500 12px ${FONT}`;
const RELATION_FONT = `11px ${FONT}`;
const SPREAD = 2.399963; // the golden angle: a spiral that fills a disc evenly
const LABEL = 30; // characters of the label of a name, unless one asks for it
const MOST_LABELS = 400; // that are tried in one picture
const FEW = 250; // vertices of which every one may bear its label
const AT_ONCE = 120; // iterations of the forces before the first picture of few vertices,
const AT_ONCE_TIME = 12; // and the milliseconds after which no more of them begin
const ROUND = 10; // iterations between two looks at the clock
const CALM = 60; // vertices which lie nearly right from the first picture on: the next one is the last
const LATER = 300; // milliseconds until the forces go on
const RING = 4; // pixels around what is chosen or pointed at
const PADDING = 56; // pixels around the picture
const LARGEST = 36; // pixels of the radius of the largest cluster,
const SMALLEST = 4; // and of the smallest
const DISCS = 0.06; // of the window that they cover at most
const CAPTION = 22; // characters in a line of the caption of a cluster,
const CAPTION_LINES = 2;
const NARROW = 600; // pixels of a window
const OVERLAYS = [".filters > summary", "#legend", ".corner", "#views"]; // they lie over the picture: no label goes there
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
  private shownEdges = new Set<string>();
  private shownVertices = new Set<string>();
  private heaviest = 1; // names of the largest cluster,
  private allNames = 1; // and of all that are drawn
  private lit: Set<string> | null = null;
  private hovered: string | null = null;
  private chosen: Light | null = null;
  private depth = 1;
  private run = 0;
  private isFresh = true; // all of it lies elsewhere than before: there is no movement to follow
  private arranged: string[] = [];
  private places = new Map<string, Place>(); // where vertices lay before all was read anew

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
      renderLabels: false,
      zoomToSizeRatioFunction: (ratio) => ratio ** 0.25,
      renderEdgeLabels: false,
      hideEdgesOnMove: false,
      minEdgeThickness: 0.7,
      stagePadding: PADDING,
      zIndex: true,
      minCameraRatio: 0.01,
      maxCameraRatio: 4,
      nodeReducer: (id, data) => this.shownVertex(id, data),
      edgeReducer: (id, data) => this.shownEdge(id, data),
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
    sigma.on("afterRender", () => this.paintLabels());
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
      const place = this.places.get(vertex.id) ?? {
        x: (centre?.x ?? 0) + distance * Math.cos(number * SPREAD),
        y: (centre?.y ?? 0) + distance * Math.sin(number * SPREAD),
      };
      this.graph.addNode(vertex.id, { vertex, ...place });
    });
    const isAsBefore = fresh.length === this.places.size && fresh.every(({ id }) => this.places.has(id));
    this.places.clear();
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
    this.redraw();
    if (!isAsBefore || !this.isAtRest || this.store.clusters?.changes.length) this.arrange();
  }

  /** Takes all out; `stays`: what comes in again lies where it was, and is looked at as before. */
  clear(stays = false): void {
    this.run += 1;
    if (!stays) this.places.clear();
    else this.graph.forEachNode((id, { x, y }) => this.places.set(id, { x, y }));
    this.graph.clear();
    if (stays) return;
    this.isFresh = true;
    this.sigma.setCustomBBox(null);
    this.sigma.getCamera().setState({ x: 0.5, y: 0.5, ratio: 1, angle: 0 });
  }

  /** Lets forces move the vertices for a while. */
  arrange(): void {
    this.sigma.setCustomBBox(null);
    if (this.store.clusters?.changes.length) {
      this.arrangeClusters();
      return;
    }
    const ids = this.graph.filterNodes((id) => this.shownVertices.has(id));
    this.arranged = ids;
    const numbers = new Map(ids.map((id, number) => [id, number]));
    const positions = new Float32Array(2 * ids.length);
    ids.forEach((id, number) => {
      const { x, y } = this.graph.getNodeAttributes(id);
      positions[2 * number] = x;
      positions[2 * number + 1] = y;
    });
    const tied = this.graph.filterEdges((id) => this.shownEdges.has(id));
    const edges = new Uint32Array(2 * tied.length);
    let place = 0;
    for (const id of tied) {
      edges[place++] = numbers.get(this.graph.source(id)) ?? 0;
      edges[place++] = numbers.get(this.graph.target(id)) ?? 0;
    }
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
    const forces = new Forces(task);
    const end = performance.now() + AT_ONCE_TIME;
    for (let done = 0; done < AT_ONCE && performance.now() < end; done += ROUND) task.positions = forces.work(ROUND);
    this.place(task.positions);
    setTimeout(() => {
      if (task.run === this.run) this.worker.postMessage(task);
    }, LATER);
  }

  /** Puts all clusters into place at once, also those that are empty at the moment: they stay where they are. */
  private arrangeClusters(): void {
    this.run += 1;
    const { width, height } = this.sigma.getDimensions();
    const discs = [...this.store.vertices.values()].map(({ id, size }) => ({ id, radius: this.radius(size ?? 1) }));
    const room = { width: Math.max(width - 2 * PADDING, 100), height: Math.max(height - 2 * PADDING, 100) };
    const places = clusterPlaces(discs, [...this.store.edges.values()], room.width, room.height);
    this.graph.updateEachNodeAttributes((id, attributes) => ({ ...attributes, ...places.get(id) }), { attributes: ["x", "y"] });
    document.body.dataset["layout"] = "done";
    this.isFresh = false;
  }

  /** The radius of a cluster: a disc with an area for its names, in a small window a smaller one. */
  private radius(names: number): number {
    const { width, height } = this.sigma.getDimensions();
    const share = this.allNames / this.heaviest; // of all discs, in discs as large as the largest
    const most = Math.min(LARGEST, Math.sqrt((DISCS * width * height) / (Math.PI * Math.max(share, 1))));
    return SMALLEST + (most - SMALLEST) * Math.sqrt(names / this.heaviest);
  }

  /** Moves what was arranged; what is hidden lies in the middle, so that the picture is as large as what is shown. */
  private place(positions: Float32Array): void {
    const numbers = new Map(this.arranged.map((id, number) => [id, number]));
    this.graph.updateEachNodeAttributes(
      (id, attributes) => {
        const number = numbers.get(id);
        const [x, y] = number === undefined ? [0, 0] : [positions[2 * number] ?? 0, positions[2 * number + 1] ?? 0];
        return { ...attributes, x, y };
      },
      { attributes: ["x", "y"] },
    );
  }

  private move(progress: Progress): void {
    if (progress.run !== this.run) return;
    if (!progress.done && (isCalm() || this.arranged.length <= CALM)) return;
    this.place(progress.positions);
    if (progress.done) {
      document.body.dataset["layout"] = "done";
      if (this.chosen !== null) void this.fit().then(() => (this.isFresh = false));
      else this.isFresh = false;
    }
  }

  private paint(): void {
    this.colours = theme();
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
    this.heaviest = 1;
    this.allNames = 0;
    for (const vertex of this.store.vertices.values()) {
      if (vertex.kind === "cluster") {
        if (vertex.weight > 0) this.shownVertices.add(vertex.id);
        this.heaviest = Math.max(this.heaviest, vertex.size ?? 1);
        this.allNames += vertex.size ?? 1;
      } else if (!tied.has(vertex.id) && vertex.kind === "entity") this.shownVertices.add(vertex.id);
    }
    this.light();
    this.sigma.scheduleRefresh();
  }

  /** Whether the forces have come to their end. */
  get isAtRest(): boolean {
    return document.body.dataset["layout"] === "done";
  }

  /** How much is to be seen. */
  shown(): { names: number; clusters: number; edges: number } {
    const of = (wanted: Kind): number =>
      [...this.shownVertices].filter((id) => this.store.vertices.get(id)?.kind === wanted).length;
    return { names: of("entity"), clusters: of("cluster"), edges: this.shownEdges.size };
  }

  /** Puts a vertex or an edge, with its neighbours at most so many steps away, in the light. */
  choose(chosen: Light | null, depth = 1): void {
    this.chosen = chosen;
    this.depth = depth;
    this.light();
    this.sigma.scheduleRefresh();
  }

  private light(): void {
    const chosen = this.chosen;
    this.lit = null;
    if (chosen?.kind === "vertex" && this.graph.hasNode(chosen.id)) {
      this.lit = this.within(chosen.id, this.depth);
    } else if (chosen?.kind === "edge" && this.graph.hasEdge(chosen.id)) {
      this.lit = new Set([chosen.id, ...this.graph.extremities(chosen.id)]);
    } else if (chosen?.kind === "evidence") {
      const lit = new Set<string>();
      for (const id of chosen.ids) {
        if (this.graph.hasEdge(id)) [id, ...this.graph.extremities(id)].forEach((one) => lit.add(one));
        else if (this.graph.hasNode(id)) this.within(id, 1).forEach((one) => lit.add(one));
      }
      if (lit.size) this.lit = lit;
    }
    document.body.dataset["lit"] = String(this.lit?.size ?? 0);
  }

  /** A vertex with the vertices and edges that at most so many steps lead to. */
  private within(id: string, depth: number): Set<string> {
    const found = new Set([id]);
    let rim = [id];
    for (let step = 0; step < depth; step++) {
      const next: string[] = [];
      for (const one of rim) {
        this.graph.forEachEdge(one, (edge, _, from, to) => {
          if (!this.shownEdges.has(edge)) return;
          found.add(edge);
          const other = from === one ? to : from;
          if (!found.has(other)) next.push(other);
          found.add(other);
        });
      }
      rim = next;
    }
    return found;
  }

  /** Brings what is in the light into the picture, or all of it. */
  async fit(): Promise<void> {
    const { dataset } = document.body;
    delete dataset["fitted"];
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))); // it may be new
    const duration = isCalm() || this.isFresh ? 0 : 300;
    const places = [...(this.lit ?? [])].flatMap((id) => {
      const place = this.graph.hasNode(id) ? this.sigma.getNodeDisplayData(id) : undefined;
      return place === undefined ? [] : [this.sigma.framedGraphToViewport(place, WHOLE)];
    });
    if (!places.length) {
      await this.look(WHOLE.cameraState, duration);
      dataset["fitted"] = "0";
      return;
    }
    const [xs, ys] = [places.map(({ x }) => x), places.map(({ y }) => y)];
    const [left, right] = [Math.min(...xs), Math.max(...xs)];
    const [top, bottom] = [Math.min(...ys), Math.max(...ys)];
    const { width, height } = this.sigma.getDimensions();
    const room = (size: number, margin: number): number => Math.max(size - 2 * margin, size / 3);
    const ratio = Math.max((right - left) / room(width, 120), (bottom - top) / room(height, 80), 0.25);
    const middle = this.sigma.viewportToFramedGraph({ x: (left + right) / 2, y: (top + bottom) / 2 }, WHOLE);
    await this.look({ x: middle.x, y: middle.y, ratio: Math.min(ratio, 1), angle: 0 }, duration);
    dataset["fitted"] = String(this.lit?.size ?? 0);
  }

  /** Turns the camera to a part of the picture; every step there is drawn, which is much work without a graphics card. */
  private async look(state: { x: number; y: number; ratio: number; angle: number }, duration: number): Promise<void> {
    const camera = this.sigma.getCamera();
    if (duration > 0) await camera.animate(state, { duration });
    else camera.setState(state);
  }

  zoom(factor: number): void {
    const camera = this.sigma.getCamera();
    void camera.animate({ ratio: camera.getBoundedRatio(camera.ratio * factor) }, { duration: isCalm() ? 0 : 150 });
  }

  private hover(id: string | null, container: HTMLElement): void {
    this.hovered = id;
    container.classList.toggle("pointing", id !== null);
    this.sigma.scheduleRender();
  }

  private shownVertex(id: string, { vertex, x, y }: NodeAttributes): Partial<NodeDisplayData> {
    if (vertex.kind === "cluster") return this.shownCluster(id, { vertex, x, y });
    const isLit = this.lit === null || this.lit.has(id);
    const isChosen = this.isChosen(id);
    const base = vertex.kind === "entity" ? 3 + 1.5 * Math.sqrt(vertex.weight) : 3.5;
    // many vertices are small ones, so that the lines between them are seen
    const scale = Math.max(0.28, Math.min(1, Math.sqrt(FEW / Math.max(this.shownVertices.size, 1))));
    return {
      x,
      y,
      hidden: !this.shownVertices.has(id),
      label: null,
      color: isLit ? this.vertexColour(vertex) : this.colours.faint,
      size: Math.min(base, 13) * scale + (isChosen ? 3 : 0),
      zIndex: isLit ? 1 : 0,
    };
  }

  private shownCluster(id: string, { vertex, x, y }: NodeAttributes): Partial<NodeDisplayData> {
    return {
      x,
      y,
      hidden: !this.shownVertices.has(id),
      label: null,
      color: this.colours[vertex.type ?? "thing"],
      size: this.radius(vertex.weight),
      zIndex: 1,
    };
  }

  private isChosen(id: string): boolean {
    return this.chosen !== null && this.chosen.kind !== "evidence" && this.chosen.id === id;
  }

  private vertexColour(vertex: Vertex): string {
    const { kind } = vertex;
    return this.colours[kind === "thesis" || kind === "episode" ? kind : (vertex.type ?? "thing")];
  }

  private shownEdge(id: string, { edge, curvature }: EdgeAttributes): Partial<EdgeDisplayData> & { curvature: number } {
    if (edge.kind === "link") {
      const size = 0.8 + Math.log10(1 + (edge.count ?? 0));
      return { hidden: !this.shownEdges.has(id), type: "line", curvature, color: this.colours.tie, size, zIndex: 0 };
    }
    const isLit = this.lit === null || this.lit.has(id);
    const hasEnded = statusAt(edge.held, this.filters.moment) === "ended";
    const { colours } = this;
    const colour =
      edge.kind === "fact"
        ? (colours.relations[relationNumber(edge.relation)] ?? colours.muted)
        : edge.kind === "thesis"
          ? colours.thesis
          : colours.episode;
    return {
      hidden: !this.shownEdges.has(id),
      type: hasEnded ? "dashed" : curvature !== 0 ? "curved" : "arrow",
      curvature,
      color: !isLit ? colours.faint : hasEnded ? colours.ended : colour,
      size: isLit && this.lit !== null ? 2.2 : this.shownVertices.size < FEW ? 1.5 : 0.8,
      zIndex: isLit ? 1 : 0,
    };
  }

  /** Paints the labels that have room: of what is chosen first, then of what is lit, then of the strongest names. */
  private paintLabels(): void {
    const canvas = this.sigma.getCanvases()["labels"];
    const context = canvas?.getContext("2d");
    if (!canvas || !context) return;
    const { width, height } = this.sigma.getDimensions();
    const painter = new LabelPainter(context, width, height);
    for (const box of this.overlays()) painter.keepFree(box);
    const seen: { id: string; vertex: Vertex; rank: number; x: number; y: number; size: number }[] = [];
    const isClear = this.shownVertices.size < FEW;
    const isNarrow = width < NARROW; // there captions may cover smaller discs
    for (const id of this.shownVertices) {
      const data = this.sigma.getNodeDisplayData(id);
      const vertex = this.store.vertices.get(id);
      if (data === undefined || vertex === undefined) continue;
      const { x, y } = this.sigma.framedGraphToViewport(data);
      if (x < 0 || y < 0 || x > width || y > height) continue;
      const size = this.sigma.scaleSize(data.size);
      const isDisc = vertex.kind === "entity" || (vertex.kind === "cluster" && !isNarrow);
      if (isClear && isDisc) painter.block(x, y, size * 0.7);
      const isLit = this.lit?.has(id) ?? false;
      if (this.lit !== null && !isLit && id !== this.hovered) continue;
      const rank =
        (id === this.hovered ? 4e6 : 0) +
        (this.isChosen(id) ? 2e6 : 0) +
        (vertex.kind === "entity" ? 1e5 : 0) +
        vertex.weight;
      seen.push({ id, vertex, rank, x, y, size });
    }
    seen.sort((a, b) => b.rank - a.rank || (a.id < b.id ? -1 : 1));
    const { colours } = this;
    for (const { id, vertex, x, y, size } of seen.slice(0, MOST_LABELS)) {
      const isAsked = id === this.hovered || this.isChosen(id);
      if (vertex.kind === "cluster") {
        if (isNarrow) painter.block(x, y, size * 0.7);
        const lines = captionLines(vertex.label, id === this.hovered ? Infinity : isNarrow ? 1 : CAPTION_LINES);
        const label = { lines, under: count(vertex.weight, "name"), x, y, size, forced: id === this.hovered };
        painter.paint({ ...label, faded: false, font: NAME_FONT }, colours.ink, colours.surface);
        continue;
      }
      const isText = vertex.kind !== "entity";
      // of many, a sentence says itself when one points at it
      if (isText && !isAsked && !isClear && this.lit === null) continue;
      const text = isAsked ? vertex.label : shortened(vertex.label, LABEL);
      const free = isAsked ? size + RING : size;
      const label = { lines: [text], x, y, size: free, forced: isAsked, faded: isText, font: NAME_FONT };
      painter.paint(label, colours.ink, colours.surface);
    }
    if (this.lit !== null && this.lit.size < 120) this.paintRelations(painter);
    for (const one of seen) if (one.id === this.hovered || this.isChosen(one.id)) this.ring(context, one);
    document.body.dataset["labels"] = String(painter.painted);
    document.body.dataset["overprinted"] = String(painter.overprinted);
  }

  /** Where parts of the page lie over the picture. */
  private overlays(): DOMRect[] {
    const { left, top } = this.sigma.getContainer().getBoundingClientRect();
    return OVERLAYS.flatMap((selector) => {
      const box = document.querySelector(selector)?.getBoundingClientRect();
      return box === undefined || !box.width ? [] : [new DOMRect(box.x - left, box.y - top, box.width, box.height)];
    });
  }

  /** Paints the relations of what is lit on their lines. */
  private paintRelations(painter: LabelPainter): void {
    for (const id of this.lit ?? []) {
      const edge = this.store.edges.get(id);
      if (edge === undefined || edge.kind !== "fact" || !this.shownEdges.has(id)) continue;
      const ends = [edge.from, edge.to].map((end) => this.sigma.getNodeDisplayData(end));
      if (ends[0] === undefined || ends[1] === undefined) continue;
      const [from, to] = [this.sigma.framedGraphToViewport(ends[0]), this.sigma.framedGraphToViewport(ends[1])];
      const bend = this.graph.getEdgeAttribute(id, "curvature") / 2;
      const x = (from.x + to.x) / 2 + (to.y - from.y) * bend;
      const y = (from.y + to.y) / 2 - (to.x - from.x) * bend;
      const hasEnded = statusAt(edge.held, this.filters.moment) === "ended";
      const text = shortened(edge.relation, LABEL) + (hasEnded ? " (ended)" : "");
      const label = { lines: [text], x, y, size: 0, forced: false, faded: hasEnded, font: RELATION_FONT };
      painter.paint(label, this.colours.muted, this.colours.surface);
    }
  }

  private ring(context: CanvasRenderingContext2D, { x, y, size }: { x: number; y: number; size: number }): void {
    context.beginPath();
    context.arc(x, y, size + RING - 1, 0, 2 * Math.PI);
    context.lineWidth = 2;
    context.strokeStyle = this.colours.accent;
    context.stroke();
  }
}

/** The caption of a cluster in lines, cut where there are more. */
function captionLines(caption: string, most: number): string[] {
  const lines: string[] = [];
  for (const name of caption.split(", ")) {
    const last = lines.at(-1);
    if (last !== undefined && `${last}, ${name}`.length <= CAPTION) lines[lines.length - 1] = `${last}, ${name}`;
    else lines.push(most === Infinity ? name : shortened(name, CAPTION));
  }
  return lines.slice(0, most);
}

function shortened(label: string, most: number): string {
  return label.length <= most ? label : `${label.slice(0, most - 1).trimEnd()}…`;
}

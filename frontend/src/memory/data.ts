// What the server tells of a memory, and what of it is on the page.

export type Kind = "entity" | "thesis" | "episode" | "cluster";
/** What a person can choose to see. */
export type EdgeKind = "fact" | "thesis" | "episode";
export type Interval = [number, number | null];

/** What a name stands for, as far as the server can tell. */
export type NameKind = "person" | "place" | "thing" | "time";

export interface Vertex {
  id: string;
  kind: Kind;
  label: string;
  weight: number;
  name?: string;
  type?: NameKind;
  number?: number;
  episode?: string;
  at?: number;
  /** Of a cluster: how to ask for it, all its names, and the statements about these alone; its weight is how many names count. */
  cluster?: NamedCluster;
  size?: number;
  statements?: number;
}

/** A cluster as its address says it: a name in it, and how many clusters it lies in, counted with itself. */
export interface ClusterPlace {
  name: string;
  level: number;
}

export interface NamedCluster extends ClusterPlace {
  label: string;
}

/** What a picture of clusters is of. */
export interface ClusterPicture {
  /** The clusters that lead to the one that was opened, and itself; none for the whole memory. */
  path: NamedCluster[];
  /** How many larger clusters are left out, how many clusters there are, and how many smaller ones are left. */
  skip: number;
  total: number;
  left: number;
  left_names: number;
  names: number;
  best: WeighedName[];
  /** When how much began and ended; none for a picture of names. */
  changes: Change[];
}

/** A name, how it is written, and how many statements mention it. */
export interface WeighedName {
  name: string;
  label: string;
  weight: number;
}

/** A time, how much began and how much ended. */
export type Change = [number, number, number];

export interface Edge {
  id: string;
  from: string;
  to: string;
  kind: EdgeKind | "link";
  relation: string;
  held: Interval[];
  number: number | null;
  episode: string | null;
  /** Whether it belongs to a sentence that says what a fact on the page says. */
  restates: boolean;
  /** Whether it belongs to a sentence about one name, which connects it with nothing. */
  alone?: boolean;
  /** Of a line between two clusters: how many statements it stands for. */
  count?: number;
}

export interface Picture {
  vertices: Vertex[];
  edges: Edge[];
}

export interface FirstPicture extends Picture {
  whole: boolean;
  episodes: boolean;
  centre: string | null;
  total: number | null;
  /** Clusters are being looked for. */
  grouping?: boolean;
  clusters?: ClusterPicture;
}

export interface Neighbourhood extends Picture {
  centre: string;
  offset: number;
  limit: number;
  total: number;
}

export interface Summary {
  file: string;
  namespace: string;
  /** How many there are at the time that is asked for; of a very large memory some are not counted. */
  counts: { names: number; statements: number; current?: number; ended?: number; texts: number };
  strongest: WeighedName[];
  small: boolean;
  first: number | null;
  last: number | null;
  /** When something was recorded, in seconds since 1970. */
  recorded: number[];
  /** Some statements that hold, from the last texts. */
  latest: (Said & { since: number; until: number | null; is_dated: boolean; days: string | null })[];
  most_drawn: number;
}

export interface Version {
  since: number;
  until: number | null;
  /** Whether a text tells when it began; otherwise `since` is the time of the text. */
  is_dated: boolean;
  /** From when until when it holds, where the text gives days, months or years: "on 2024-03-01". */
  days: string | null;
  sources: string[];
  more_sources: number;
  ended_by: string | null;
  reason: string | null;
}

export interface Said {
  kind: "fact" | "thesis";
  id: string;
  text: string;
  names: string[];
  /** The names as they are written. */
  labels: string[];
  subject?: string;
  relation?: string;
  object?: string;
}

export interface Statement extends Said {
  number: number;
  /** The number of the fact that says the same as this sentence. */
  restates: number | null;
  held: Interval[];
  versions: Version[];
}

export interface Entity {
  name: string;
  label: string;
  type: NameKind;
  current: number;
  total: number;
  statements: Statement[];
}

export interface Episode {
  id: string;
  text: string;
  left_out: number;
  at: number;
  source: string;
  recorded_at: number | null;
  reader: string;
  failures: string[];
  statements: Said[];
  ended: (Said & { reason: string })[];
}

export interface Hit extends Partial<Said> {
  kind: "fact" | "thesis";
  text: string;
  names: string[];
  labels: string[];
  score: number;
  /** The names on the way to it, as they are written. */
  path: string[];
  number: number | null;
  held: Interval[];
  version?: Version | null;
}

export interface EpisodeHit {
  kind: "episode";
  text: string;
  names: string[];
  score: number;
  path: string[];
  episode: string;
  at: number;
}

export interface Answer {
  question: string;
  answer: string | null;
  /** Whether the sources state the answer or a step to it is only implied; `null` without an answer. */
  support: "stated" | "inferred" | null;
  confidence: number | null;
  /** The model that answered; empty for an answer by rule. */
  model: string;
  reasoning: string;
  as_of: number | null;
  /** The time that the question names, in words; empty without one. */
  asked_time: string;
  /** The statements behind the answer, also those that its texts state. */
  evidence: Statement[];
  sources: (Hit | EpisodeHit)[];
  nearest: (Hit | EpisodeHit)[];
  method: string;
  hits: (Hit | EpisodeHit)[];
}

export type Status = "current" | "ended" | "future";

let latest = -Infinity; // world time of the last text

/** Takes the world time of the last text, at which "now" is. */
export function setNow(now: number | null): void {
  latest = now ?? -Infinity;
}

/** How something stands at a moment; `null` is now: what is not over, also what is announced. */
export function statusAt(held: Interval[], moment: number | null): Status {
  let begun = false;
  for (const [from, to] of held) {
    if (!isOver(to, moment) && (moment === null || from <= moment) && from !== to) return "current";
    begun ||= moment === null || from <= moment;
  }
  return begun ? "ended" : "future";
}

/** Whether something that held until a time is over at a moment; `null` is now. */
export const isOver = (until: number | null, moment: number | null): boolean => until !== null && until <= (moment ?? latest);

/** All vertices and edges that were told so far. */
export class Store {
  readonly vertices = new Map<string, Vertex>();
  readonly edges = new Map<string, Edge>();
  /** What of a large memory is on the page; `null` for names and statements themselves. */
  clusters: ClusterPicture | null = null;

  /** Takes in a picture: the vertices that are new. */
  add(picture: Picture): Vertex[] {
    const fresh = picture.vertices.filter((vertex) => !this.vertices.has(vertex.id));
    for (const vertex of fresh) this.vertices.set(vertex.id, vertex);
    for (const edge of picture.edges) this.edges.set(edge.id, edge);
    return fresh;
  }

  clear(): void {
    this.vertices.clear();
    this.edges.clear();
    this.clusters = null;
  }

  /** Every moment at which something began or ended, in order. */
  moments(): number[] {
    if (this.clusters?.changes.length) return this.clusters.changes.map(([time]) => time);
    const found = new Set<number>();
    for (const edge of this.edges.values()) {
      for (const [from, to] of edge.held) {
        found.add(from);
        if (to !== null) found.add(to);
      }
    }
    return [...found].sort((a, b) => a - b);
  }

  /** When statements began and ended, each once, without sentences that restate a fact. */
  *changes(): Generator<Change> {
    if (this.clusters?.changes.length) {
      yield* this.clusters.changes;
      return;
    }
    const seen = new Set<number>();
    for (const { number, held, restates } of this.edges.values()) {
      if (number === null || restates || seen.has(number)) continue;
      seen.add(number);
      for (const [from, to] of held) {
        yield [from, 1, 0];
        if (to !== null) yield [to, 0, 1];
      }
    }
  }

  /** The clusters on the page, the largest first. */
  listedClusters(): Vertex[] {
    const found = [...this.vertices.values()].filter(({ kind, weight }) => kind === "cluster" && weight > 0);
    return found.sort((a, b) => b.weight - a.weight);
  }

  /** Takes over what counts in each cluster at another moment. */
  count(picture: Picture): void {
    for (const { id, weight, statements } of picture.vertices) {
      const vertex = this.vertices.get(id);
      if (vertex !== undefined) Object.assign(vertex, { weight, statements });
    }
    for (const { id, count } of picture.edges) {
      const edge = this.edges.get(id);
      if (edge !== undefined) edge.count = count ?? 0;
    }
  }

  /** How many edges that these filters show, or would show, bear each relation, the most frequent first. */
  relations(filters: Filters): [string, number][] {
    const found = new Map<string, number>([...filters.hidden].map((relation) => [relation, 0]));
    for (const edge of this.edges.values()) {
      if (edge.kind === "fact" && filters.isInTime(edge)) found.set(edge.relation, (found.get(edge.relation) ?? 0) + 1);
    }
    return [...found].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  }
}

/** What a person wants to see. Sentences that restate a fact, and what has ended, are shown when asked for. */
export class Filters {
  readonly kinds = new Set<EdgeKind>(["fact", "thesis"]);
  readonly hidden = new Set<string>();
  /** What is shown in any case: the evidence of an answer, though it has ended. */
  readonly kept = new Set<string>();
  showEnded = false;
  showRestated = false;
  showAlone = false;
  moment: number | null = null;
  /** Only what held at some time in this range. */
  range: [number, number] | null = null;

  shows(edge: Edge): boolean {
    if (this.kept.has(edge.id)) return true;
    if (edge.kind === "link") return (edge.count ?? 0) > 0;
    if (!this.kinds.has(edge.kind) || (edge.kind === "fact" && this.hidden.has(edge.relation))) return false;
    if (edge.kind === "thesis" && edge.restates && !this.showRestated && this.kinds.has("fact")) return false;
    if (edge.alone && !this.showAlone) return false;
    return this.isInTime(edge);
  }

  isInTime(edge: Edge): boolean {
    if (this.range !== null) return heldWithin(edge.held, this.range);
    const status = statusAt(edge.held, this.moment);
    return status === "current" || (status === "ended" && this.showEnded);
  }
}

/** Whether something held at some time in a range. */
export function heldWithin(held: Interval[], [first, last]: [number, number]): boolean {
  return held.some(([from, to]) => from <= last && (to === null || to > first));
}

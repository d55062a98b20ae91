// What the server tells of a memory, and what of it is on the page.

export type Kind = "entity" | "thesis" | "episode";
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
}

export interface Edge {
  id: string;
  from: string;
  to: string;
  kind: EdgeKind;
  relation: string;
  held: Interval[];
  number: number | null;
  episode: string | null;
  /** Whether it belongs to a sentence that says what a fact on the page says. */
  restates: boolean;
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
  counts: Record<string, number>;
  names: number;
  strongest: { name: string; weight: number }[];
  small: boolean;
  first: number | null;
  last: number | null;
  /** When something was recorded, in seconds since 1970. */
  recorded: number[];
  /** Some statements that hold, from the last texts. */
  latest: (Said & { since: number })[];
  most_drawn: number;
}

export interface Version {
  since: number;
  until: number | null;
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
  score: number;
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
  /** The words of the question that say as of when it is asked. */
  named: string | null;
  /** The statements behind the answer, also those that its texts state. */
  evidence: Statement[];
  sources: (Hit | EpisodeHit)[];
  nearest: (Hit | EpisodeHit)[];
  method: string;
  hits: (Hit | EpisodeHit)[];
}

export type Status = "current" | "ended" | "future";

/** How something stands at a moment; `null` is now: what has not ended. */
export function statusAt(held: Interval[], moment: number | null): Status {
  let begun = false;
  for (const [from, to] of held) {
    if (moment === null ? to === null : from <= moment && (to === null || moment < to)) return "current";
    begun ||= moment === null || from <= moment;
  }
  return begun ? "ended" : "future";
}

/** All vertices and edges that were told so far. */
export class Store {
  readonly vertices = new Map<string, Vertex>();
  readonly edges = new Map<string, Edge>();

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
  }

  /** Every moment at which something began or ended, in order. */
  moments(): number[] {
    const found = new Set<number>();
    for (const edge of this.edges.values()) {
      for (const [from, to] of edge.held) {
        found.add(from);
        if (to !== null) found.add(to);
      }
    }
    return [...found].sort((a, b) => a - b);
  }

  /** When each statement held, once for each, without sentences that restate a fact. */
  *statements(): Generator<Interval[]> {
    const seen = new Set<number>();
    for (const { number, held, restates } of this.edges.values()) {
      if (number === null || restates || seen.has(number)) continue;
      seen.add(number);
      yield held;
    }
  }

  /** How many edges bear each relation, the most frequent first. */
  relations(): [string, number][] {
    const found = new Map<string, number>();
    for (const edge of this.edges.values()) {
      if (edge.kind === "fact") found.set(edge.relation, (found.get(edge.relation) ?? 0) + 1);
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
  moment: number | null = null;
  /** Only what held at some time in this range. */
  range: [number, number] | null = null;

  shows(edge: Edge): boolean {
    if (this.kept.has(edge.id)) return true;
    if (!this.kinds.has(edge.kind) || (edge.kind === "fact" && this.hidden.has(edge.relation))) return false;
    if (edge.kind === "thesis" && edge.restates && !this.showRestated && this.kinds.has("fact")) return false;
    if (this.range !== null) return heldWithin(edge.held, this.range);
    const status = statusAt(edge.held, this.moment);
    return status === "current" || (status === "ended" && this.showEnded);
  }
}

/** Whether something held at some time in a range. */
export function heldWithin(held: Interval[], [first, last]: [number, number]): boolean {
  return held.some(([from, to]) => from <= last && (to === null || to > first));
}

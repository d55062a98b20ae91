// What the server tells of a memory, and what of it is on the page.

export type Kind = "entity" | "thesis" | "episode";
export type EdgeKind = "fact" | "thesis" | "episode";
export type Interval = [number, number | null];

export interface Vertex {
  id: string;
  kind: Kind;
  label: string;
  weight: number;
  name?: string;
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
  text: string;
  names: string[];
  subject?: string;
  relation?: string;
  object?: string;
}

export interface Statement extends Said {
  number: number;
  held: Interval[];
  versions: Version[];
}

export interface Entity {
  name: string;
  label: string;
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

  /** How many edges bear each relation, the most frequent first. */
  relations(): [string, number][] {
    const found = new Map<string, number>();
    for (const edge of this.edges.values()) {
      if (edge.kind === "fact") found.set(edge.relation, (found.get(edge.relation) ?? 0) + 1);
    }
    return [...found].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  }
}

/** What a person wants to see. */
export class Filters {
  readonly kinds = new Set<EdgeKind>(["fact", "thesis"]);
  readonly hidden = new Set<string>();
  showEnded = true;
  moment: number | null = null;

  shows(edge: Edge): boolean {
    if (!this.kinds.has(edge.kind) || (edge.kind === "fact" && this.hidden.has(edge.relation))) return false;
    const status = statusAt(edge.held, this.moment);
    return status === "current" || (status === "ended" && this.showEnded);
  }
}

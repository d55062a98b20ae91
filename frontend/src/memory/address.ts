// What is shown, as the address of the page says it: links, Back and pasted addresses all lead through here.
import type { ClusterPlace, EdgeKind } from "./data";

export type Choice =
  | { kind: "name"; id: string }
  | { kind: "statement"; id: string }
  | { kind: "source"; id: string }
  | { kind: "question"; id: string };

export interface Address {
  memory: string;
  chosen: Choice | null;
  /** World time; `null` is now. */
  at: number | null;
  range: [number, number] | null;
  /** Recorded time; `null` is all that is known by now. */
  recorded: number | null;
  depth: number;
  only: boolean;
  /** The cluster of a large memory that was opened; `null` for all of them. */
  cluster: ClusterPlace | null;
  /** How many larger clusters are left out. */
  skip: number;
  view: "graph" | "map" | null;
  kinds: EdgeKind[];
  ended: boolean;
  restated: boolean;
  alone: boolean;
  hidden: string[];
}

export const OWN = "file"; // the memory that the server was started for
export const OF_RUNS = "run-"; // how the keys of the memories of runs begin; these are never changed
export const MOST_DEPTH = 3;
const MOST_LEVEL = 30; // as the server has it
const KINDS: EdgeKind[] = ["fact", "thesis"];
const CHOICES = ["name", "statement", "source"] as const;

export function readAddress(hash: string): Address {
  const told = new URLSearchParams(hash.replace(/^#/, ""));
  const number = (name: string): number | null => {
    const text = told.get(name);
    return text !== null && text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : null;
  };
  const [from, to] = [number("from"), number("to")];
  const kind = CHOICES.find((one) => told.has(one));
  const question = told.get("q");
  const view = told.get("view");
  const cluster = told.get("cluster");
  const whole = (name: string): number => Math.max(Math.round(number(name) ?? 0), 0);
  const kinds = told.get("show")?.split(",");
  return {
    memory: told.get("memory") ?? OWN,
    chosen: question
      ? { kind: "question", id: question }
      : kind === undefined
        ? null
        : { kind, id: told.get(kind) ?? "" },
    at: number("at"),
    range: from !== null && to !== null && from <= to ? [from, to] : null,
    recorded: number("recorded"),
    depth: Math.min(Math.max(Math.round(number("depth") ?? 1), 1), MOST_DEPTH),
    only: told.has("only"),
    cluster: cluster ? { name: cluster, level: Math.min(Math.max(whole("level"), 1), MOST_LEVEL) } : null,
    skip: Math.min(whole("skip"), 1e9),
    view: view === "graph" || view === "map" ? view : null,
    kinds: kinds === undefined ? [...KINDS] : (["fact", "thesis", "episode"] as const).filter((k) => kinds.includes(k)),
    ended: told.has("ended"),
    restated: told.has("restated"),
    alone: told.has("alone"),
    hidden: told.getAll("without"),
  };
}

export function writeAddress(address: Address): string {
  const told = new URLSearchParams();
  if (address.memory !== OWN) told.set("memory", address.memory);
  if (address.chosen !== null) told.set(address.chosen.kind === "question" ? "q" : address.chosen.kind, address.chosen.id);
  if (address.at !== null) told.set("at", String(address.at));
  if (address.range !== null) {
    told.set("from", String(address.range[0]));
    told.set("to", String(address.range[1]));
  }
  if (address.recorded !== null) told.set("recorded", String(address.recorded));
  if (address.depth > 1) told.set("depth", String(address.depth));
  if (address.only) told.set("only", "1");
  if (address.cluster !== null) {
    told.set("cluster", address.cluster.name);
    if (address.cluster.level > 1) told.set("level", String(address.cluster.level));
  }
  if (address.skip) told.set("skip", String(address.skip));
  if (address.view !== null) told.set("view", address.view);
  if (address.kinds.join() !== KINDS.join()) told.set("show", address.kinds.join() || "none");
  if (address.ended) told.set("ended", "1");
  if (address.restated) told.set("restated", "1");
  if (address.alone) told.set("alone", "1");
  for (const relation of address.hidden) told.append("without", relation);
  return told.size ? `#${told}` : "";
}

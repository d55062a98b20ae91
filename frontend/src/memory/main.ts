// The page of a memory. What it shows is what its address says: every choice goes through `go`, and `apply` shows it.
// What it reads goes through `read`: each answer says of which state of the memory it is, and after another one `reload`
// reads everything anew, whoever changed the memory.
import { get, type Parameters, post, said, ServerError, wasGivenUp } from "../common/api";
import { at, count, fill, h, tell, whenQuiet } from "../common/dom";
import type { MapDrawing } from "../common/map";
import { relationNumber } from "../common/theme";
import { shownTime } from "../common/times";
import { type Address, OF_RUNS, readAddress, writeAddress } from "./address";
import {
  type Answer,
  type EdgeKind,
  type Entity,
  type Episode,
  Filters,
  type FirstPicture,
  type Neighbourhood,
  setNow,
  type Statement,
  Store,
  type Summary,
} from "./data";
import { type Chosen, Drawing } from "./drawing";
import { Editing } from "./editing";
import { hasMap, MapView } from "./map-view";
import { Panel, type When } from "./panel";
import { type Found, Search } from "./search";
import { TimeAxis } from "./time";
import { Waiting } from "./waiting";

const NEIGHBOURS = 40; // asked for at a time
const STATEMENTS = 60; // shown of a name at first: more make a click wait, and are asked for
const MANY_STATEMENTS = 1000;
const MOST_DRAWN = 1500; // vertices of neighbourhoods: with more, the next one is drawn alone
const OFTEN = 3000; // milliseconds between two looks whether another process changed the memory,
const RARELY = 30_000; // and while the server does not answer
const SHARE = 10; // a page that takes long to read looks less often
const QUIET = 120; // milliseconds without a movement in time before the server is asked

type Shown =
  | { kind: "name"; entity: Entity }
  | { kind: "statement"; statement: Statement }
  | { kind: "source"; episode: Episode };

interface Told {
  change: string;
  now: number | null;
}

interface Listed {
  key: string;
  label: string;
  exists: boolean;
}

const store = new Store();
const filters = new Filters();
const loaded = new Map<string, { shown: number; total: number }>();
let address: Address = readAddress(location.hash);
let summary: Summary | null = null;
let summaryFor = ""; // the memory that it is of, and as recorded by when
let shown: Shown | null = null; // what was chosen, as the server told it
let whole = true;
let drawnFor = ""; // the part of the address that decides what is loaded
let isReplaced = false; // a neighbourhood is drawn in the place of the clusters
let countedFor = ""; // the time for which the clusters are counted
let turn = 0;
let state = { memory: "", change: "" }; // of which the page shows what was read
let still = 0; // how many times it is read anew, while the eye stays where it is
let reloadTime = 0; // milliseconds that this took

const path = (tail = ""): string => `/api/memories/${encodeURIComponent(address.memory)}${tail}`;
const known = (): { recorded: number | null } => ({ recorded: address.recorded });
const loadedFor = ({ memory, recorded, kinds, only, chosen, cluster, skip }: Address): string =>
  JSON.stringify([memory, recorded, kinds.includes("episode"), only ? chosen : null, cluster, skip]);
const countFor = ({ at, range, ended }: Address): string => JSON.stringify([at, range, ended]);
const summaryKey = (): string => JSON.stringify([address.memory, address.recorded, address.at, address.range]);
const times = (): Parameters => ({ at: address.at, from: address.range?.[0], to: address.range?.[1] });
const askPicture = (tail = "/graph"): Promise<FirstPicture> =>
  read<FirstPicture>(tail, {
    episodes: address.kinds.includes("episode"),
    cluster: address.cluster?.name,
    level: address.cluster?.level,
    skip: address.skip || null,
    ...times(),
    ended: address.ended,
    ...known(),
  });

// asked for first of all: it takes a browser a while to make ready for drawing
let begun: Promise<FirstPicture> | null = askPicture();
begun.catch(() => undefined);

const editing = new Editing({
  path,
  changed: (chosen) => {
    address = { ...address, chosen };
    history.pushState(null, "", location.pathname + writeAddress(address));
    state.change = ""; // the next answer has the new one
    void reload(false);
  },
});
const panel = new Panel(at("panel", HTMLElement), {
  link: (chosen) => writeAddress({ ...address, chosen, only: false }) || "#",
  clusterLink: (cluster, skip = 0) => writeAddress({ ...address, chosen: null, only: false, cluster, skip }) || "#",
  expand: (name) => void expand(name),
  only: (name) => go({ chosen: { kind: "name", id: name }, only: true }),
  deeper: (depth) => go({ depth }),
  longer: (name) => void guarded(() => showName(name, MANY_STATEMENTS)),
  episode: (id) => read<Episode>("/episode", { id }),
  edits: (about) => editing.buttons(about),
  correction: (statement) => editing.pencil(statement),
});
const time = new TimeAxis(
  {
    picture: at("changes", SVGSVGElement as unknown as new () => SVGSVGElement),
    range: at("moment", HTMLInputElement),
    shown: at("as-of", HTMLInputElement),
    about: at("moment-about", HTMLElement),
    play: at("moment-play", HTMLButtonElement),
    now: at("moment-now", HTMLButtonElement),
    all: at("range-all", HTMLButtonElement),
  },
  store,
  ({ moment, range }, isFinal) => {
    address = { ...address, at: moment, range };
    filters.moment = moment;
    filters.range = range;
    if (isFinal) keep();
    redraw();
    recount();
    summarise();
    drawRelationsSoon();
    showPanelAgain(isFinal);
  },
);
const search = new Search(at("search", HTMLInputElement), at("found", HTMLElement), {
  names: async (q) => {
    try {
      return (await read<{ names: Found[] }>("/names", { q, ...known() })).names;
    } catch {
      return [];
    }
  },
  choose: (name) => go({ chosen: { kind: "name", id: name }, only: false }),
  ask: (question) => go({ chosen: { kind: "question", id: question }, only: false }),
});
const map = new MapView(at("map", HTMLElement), (room) =>
  go({ chosen: { kind: "name", id: room.toLowerCase() }, only: false }),
);
const drawing = makeDrawing();

function makeDrawing(): Drawing | null {
  const container = at("graph", HTMLElement);
  try {
    return new Drawing(
      container,
      store,
      filters,
      (picked) => void guarded(() => pick(picked)),
      (id) => {
        const name = store.vertices.get(id)?.name;
        if (name !== undefined) void expand(name);
      },
    );
  } catch {
    fill(
      container,
      h(
        "p",
        { class: "empty" },
        "This browser does not draw graphs (WebGL is off). Search, and what is known about a name, work without.",
      ),
    );
    return null;
  }
}

async function guarded(work: () => Promise<void>): Promise<void> {
  try {
    tell(null);
    await work();
  } catch (error) {
    tell(said(error));
  }
}

// -- the address --------------------------------------------------------------------------------------------------

/** Goes to another address: Back leads to the one before. */
function go(change: Partial<Address>): Promise<void> {
  const next = { ...address, ...change };
  if (writeAddress(next) !== writeAddress(address)) {
    history.pushState(null, "", location.pathname + writeAddress(next));
  }
  address = next;
  return apply();
}

/** Keeps the moment in the address, without a step for Back. */
function keep(): void {
  history.replaceState(null, "", location.pathname + writeAddress(address));
}

window.addEventListener("popstate", () => {
  const next = readAddress(location.hash);
  if (writeAddress(next) === writeAddress(address)) return;
  address = next;
  void apply();
});

/** Shows what the address says. */
async function apply(): Promise<void> {
  const mine = ++turn;
  const before = filterState();
  filters.kinds.clear();
  for (const kind of address.kinds) filters.kinds.add(kind);
  filters.hidden.clear();
  for (const relation of address.hidden) filters.hidden.add(relation);
  filters.showEnded = address.ended;
  filters.showRestated = address.restated;
  filters.showAlone = address.alone;
  filters.moment = address.at;
  filters.range = address.range;
  filters.kept.clear();
  const isOther = before !== filterState();
  time.show({ moment: address.at, range: address.range });
  showFilters();
  await guarded(async () => {
    // from a neighbourhood in their place back to the clusters
    if (loadedFor(address) !== drawnFor || (isReplaced && address.chosen === null)) await open();
    else if (isOther && store.clusters?.changes.length) recount();
    else if (isOther) relayout();
    else {
      redraw();
      recount();
    }
    if (mine !== turn) return;
    if (summaryFor !== summaryKey()) void guarded(readSummary);
    at("all", HTMLElement).hidden = !address.only && !(isReplaced || address.cluster !== null || address.skip);
    showView();
    try {
      await showChoice();
    } catch (error) {
      if (!(error instanceof ServerError) || error.status !== 404 || mine !== turn) throw error;
      drawing?.choose(null);
      const what = address.chosen?.kind === "name" ? address.chosen.id : `No such ${address.chosen?.kind ?? "page"}`;
      show(["missing", what], () => panel.missing(what, said(error)));
    }
  });
  document.body.dataset["ready"] = "yes";
}

const filterState = (): string =>
  JSON.stringify([[...filters.kinds], [...filters.hidden], filters.showEnded, filters.showRestated, filters.showAlone, filters.range]);

// -- what is read -------------------------------------------------------------------------------------------------

/** What the server tells of the memory; what is older than what is shown is asked for again. */
async function read<T>(tail = "", parameters: Parameters = {}, signal?: AbortSignal): Promise<T> {
  for (;;) {
    const { memory } = address;
    const { change, now, ...told } = await get<Told>(path(tail), parameters, signal);
    if (memory !== address.memory) return told as T; // nobody waits for it any longer
    const shown = memory === state.memory ? state.change : "";
    if (isEarlier(change, shown)) continue;
    setNow(now);
    state = { memory, change };
    if (shown && change !== shown) void reload(true);
    return told as T;
  }
}

/** Whether the server saw a state of the memory before another; it counts anew whenever it opens the memory. */
function isEarlier(one: string, other: string): boolean {
  const [[opening, number], [otherOpening, otherNumber]] = [one.split("-"), other.split("-")];
  return opening === otherOpening && Number(number) < Number(otherNumber);
}

/** Reads all that the page shows anew; `stays`: without moving the picture and the panel away from what a person looks at. */
async function reload(stays: boolean): Promise<void> {
  const begin = performance.now();
  summaryFor = drawnFor = countedFor = "";
  begun = null;
  still += Number(stays);
  try {
    await apply();
  } finally {
    still -= Number(stays);
    reloadTime = performance.now() - begin;
  }
  search.again();
  await listMemories();
}

/** Looks now and then whether another process changed the memory. */
function watch(wait: number): void {
  setTimeout(async () => {
    const isThere = await look();
    watch(isThere ? Math.max(OFTEN, SHARE * reloadTime) : RARELY);
  }, wait);
}

async function look(): Promise<boolean> {
  if (document.hidden || !state.change) return true;
  try {
    await read("/change");
    return true;
  } catch {
    return false; // whoever asks for more is told why
  }
}

document.addEventListener("visibilitychange", () => void look());

// -- what is on the page ------------------------------------------------------------------------------------------

async function open(): Promise<void> {
  const asked = begun ?? askPicture();
  begun = null;
  const wanted = loadedFor(address);
  const counted = countFor(address);
  if (summaryFor !== summaryKey()) summary = null;
  try {
    const first = await asked;
    if (wanted !== loadedFor(address)) return;
    whole = first.whole;
    drawing?.clear(still > 0);
    store.clear();
    loaded.clear();
    drawnFor = wanted;
    countedFor = counted;
    isReplaced = false;
    if (!whole && !address.only && address.chosen?.kind === "name" && !first.vertices.some(({ id }) => id === `e:${chosenName()}`)) {
      isReplaced = true; // its neighbourhood comes at once: the clusters would only flicker
    } else if (address.only && address.chosen?.kind === "name") {
      whole = false;
      await load(address.chosen.id, true);
    } else {
      store.clusters = first.clusters ?? null;
      const fresh = store.add(first);
      drawing?.grow(fresh, null);
      if (first.centre !== null && first.total !== null) {
        loaded.set(first.centre, { shown: Math.min(NEIGHBOURS, first.total), total: first.total });
      }
    }
    if (first.whole && address.kinds.includes("episode") && !first.episodes)
      tell("With its texts this memory is too large to be drawn whole: choose a name to see them.");
    changed();
    await editing.offerStart(!address.memory.startsWith(OF_RUNS), whole && store.vertices.size === 0);
    if (!store.vertices.size) onPanel = "";
    if (first.grouping) void guarded(() => group(wanted));
  } catch (error) {
    store.clear();
    drawing?.clear();
    drawnFor = "";
    onPanel = "";
    panel.closed(() => void apply());
    throw error;
  }
}

const summarise = whenQuiet(QUIET, () => void guarded(readSummary));

/** Reads what the memory is at the moment, unless it is on the page. */
async function readSummary(): Promise<void> {
  const wanted = summaryKey();
  if (summaryFor === wanted || !drawnFor) return;
  const about = await read<Summary>("", { ...known(), ...times() });
  if (wanted !== summaryKey()) return;
  summary = about;
  summaryFor = wanted;
  document.title = `${summary.file.split("/").at(-1) ?? "memory"} · worldthread`;
  if (address.chosen === null && store.vertices.size) showWelcome();
  showRecorded();
  redraw();
}

const when = (): When => ({ moment: address.at, range: address.range });
let onPanel = ""; // what it shows

/** Fills the panel; where the page is read anew, only with something else, and without moving it. */
function show(what: unknown[], fillIn: () => void): void {
  const told = JSON.stringify([what, when(), address.depth, address.restated]);
  if (still && told === onPanel) return;
  const place = at("panel", HTMLElement);
  const { scrollTop } = place;
  onPanel = told;
  fillIn();
  if (still) place.scrollTop = scrollTop;
}

function showWelcome(): void {
  if (summary === null) return;
  const isPart = address.cluster !== null && store.clusters?.path.length;
  const { clusters } = store;
  if (isPart && clusters !== null) show(["cluster", clusters], () => panel.cluster(clusters, store));
  else {
    const of = summary;
    show(["memory", of, clusters, store.vertices.size], () => panel.welcome(of, store, when()));
  }
}

/** Waits for the clusters of a very large memory, and draws them unless something was chosen in the meantime. */
async function group(wanted: string): Promise<void> {
  const told = askPicture("/clusters");
  await told;
  if (wanted !== loadedFor(address) || address.chosen !== null) return;
  begun = told;
  await open();
  showWelcome();
}

const recount = whenQuiet(QUIET, () => void guarded(countAgain));

/** Counts in every cluster what holds at the moment. */
async function countAgain(): Promise<void> {
  const [wanted, counted] = [loadedFor(address), countFor(address)];
  if (!store.clusters?.changes.length || counted === countedFor || isReplaced) return;
  const told = await askPicture("/clusters");
  if (wanted !== loadedFor(address) || counted !== countFor(address) || isReplaced) return;
  countedFor = counted;
  store.count(told);
  redraw();
  if (address.chosen === null) showWelcome();
}

function changed(): void {
  time.update();
  drawRelations();
  redraw();
}

function relayout(): void {
  redraw();
  drawing?.arrange();
  void fit();
}

function redraw(): void {
  drawing?.redraw();
  const shown = drawing?.shown() ?? { names: 0, clusters: 0, edges: 0 };
  // the filters hide some, and of a large memory a part is loaded
  const clusters = store.clusters;
  if (clusters?.changes.length) {
    const of = clusters.total > shown.clusters ? `${shown.clusters} of ${count(clusters.total, "cluster")}` : count(shown.clusters, "cluster");
    at("shown", HTMLElement).textContent = of;
    document.body.dataset["shownClusters"] = String(shown.clusters);
    return;
  }
  delete document.body.dataset["shownClusters"];
  const isPart = summary !== null && summary.counts.names > shown.names;
  const names = isPart ? `${shown.names.toLocaleString("en")} of ${count(summary?.counts.names ?? 0, "name")}` : count(shown.names, "name");
  at("shown", HTMLElement).textContent = store.vertices.size ? `${names}, ${count(shown.edges, "line")}` : "";
  document.body.dataset["shownEdges"] = String(shown.edges);
}

const redrawMap = whenQuiet(QUIET, () => {
  if (isMap()) void guarded(() => showMap());
});

const showMap = async (): Promise<void> => map.show(await read<MapDrawing>("/map", { at: address.at, ...known() }), chosenName());
const isMap = (): boolean => (address.view ?? (hasMap(store) ? "map" : "graph")) === "map";
const chosenName = (): string | null => (address.chosen?.kind === "name" ? address.chosen.id : null);

function showView(): void {
  const asMap = isMap();
  at("views", HTMLElement).hidden = !hasMap(store);
  at("map", HTMLElement).hidden = !asMap;
  at("graph", HTMLElement).classList.toggle("behind", asMap);
  at("legend", HTMLElement).hidden = asMap;
  at("view-map", HTMLButtonElement).setAttribute("aria-pressed", String(asMap));
  at("view-graph", HTMLButtonElement).setAttribute("aria-pressed", String(!asMap));
  if (asMap) void guarded(() => showMap());
}

// -- choosing -----------------------------------------------------------------------------------------------------

async function pick(picked: Chosen | null): Promise<void> {
  if (picked === null) {
    if (address.chosen !== null) go({ chosen: null });
    return;
  }
  const edge = picked.kind === "edge" ? store.edges.get(picked.id) : undefined;
  const vertex = store.vertices.get(picked.kind === "edge" ? (edge?.from ?? "") : picked.id);
  if (vertex?.cluster !== undefined) {
    const { name, level } = vertex.cluster;
    if (picked.kind === "vertex") go({ cluster: { name, level }, skip: 0, chosen: null, only: false });
    return;
  }
  const number = picked.kind === "edge" ? edge?.number : vertex?.number;
  if (picked.kind === "vertex" && vertex?.name !== undefined) {
    go({ chosen: { kind: "name", id: vertex.name }, only: address.only && chosenName() === vertex.name });
  } else if (number != null) {
    const { id } = await read<Statement>("/statement", { number, ...known() });
    go({ chosen: { kind: "statement", id } });
  } else if (vertex?.episode !== undefined) {
    go({ chosen: { kind: "source", id: vertex.episode } });
  }
}

async function showChoice(): Promise<void> {
  const { chosen } = address;
  shown = null;
  // what was asked before is no longer what is shown
  if (chosen?.kind !== "question" && document.activeElement?.id !== "search") at("search", HTMLInputElement).value = "";
  if (chosen?.kind === "name") await showName(chosen.id);
  else if (chosen?.kind === "statement") await showStatement(chosen.id);
  else if (chosen?.kind === "source") await showSource(chosen.id);
  else if (chosen?.kind === "question") await showAnswer(chosen.id);
  else {
    drawing?.choose(null);
    if (store.vertices.size) showWelcome();
  }
}

/** A name: its neighbourhood in the light, and what is known about it in the panel. */
async function showName(name: string, limit = STATEMENTS): Promise<void> {
  const mine = turn;
  const needed = !whole && !loaded.has(name);
  const isFar = !whole && (!store.vertices.has(`e:${name}`) || store.vertices.size > MOST_DRAWN);
  const [about, part] = await Promise.all([
    read<Entity>("/entity", { name, limit, ...known() }),
    needed ? askPart(name, isFar) : null,
  ]);
  if (mine !== turn) return;
  if (part !== null) takeIn(part, isFar); // together with the panel: a picture of its own would delay it
  shown = { kind: "name", entity: about };
  drawing?.choose({ kind: "vertex", id: `e:${about.name}` }, address.depth);
  showPanelAgain(true);
  // a neighbourhood alone is in the picture as a whole, and is fitted once it lies still
  if (part === null || !isFar || drawing?.isAtRest) await fit();
}

/** Shows what was chosen as it stands at the moment, or asks the question again as of it. */
function showPanelAgain(isFinal: boolean): void {
  redrawMap();
  if (shown?.kind === "name") {
    const { entity } = shown;
    const parts = { loaded: loaded.get(entity.name) ?? null, depth: address.depth, restated: address.restated };
    show(["name", entity, parts], () => panel.entity(entity, when(), parts));
  } else if (shown?.kind === "statement") {
    const { statement } = shown;
    show(["statement", statement], () => panel.statement(statement, when()));
  } else if (shown?.kind === "source") {
    const { episode } = shown;
    show(["source", episode], () => panel.episode(episode, when()));
  } else if (isFinal && address.chosen?.kind === "question") {
    void guarded(showChoice);
  }
}

/** Brings what is chosen into the picture, unless a person looks at another part of it. */
const fit = async (): Promise<void> => (still ? undefined : drawing?.fit());

async function showStatement(id: string): Promise<void> {
  const mine = turn;
  const statement = await read<Statement>("/statement", { id, ...known() });
  const first = statement.names[0];
  if (!whole && first !== undefined && !store.vertices.has(`e:${first}`)) await load(first, true);
  if (mine !== turn) return;
  light([statement]);
  shown = { kind: "statement", statement };
  showPanelAgain(true);
  await fit();
}

async function showSource(id: string): Promise<void> {
  const mine = turn;
  const told = await read<Episode>("/episode", { id });
  if (mine !== turn) return;
  const vertex = `p:${id}`;
  drawing?.choose(store.vertices.has(vertex) ? { kind: "vertex", id: vertex } : null);
  shown = { kind: "source", episode: told };
  showPanelAgain(true);
}

async function showAnswer(question: string): Promise<void> {
  const mine = turn;
  const again = (): void => void guarded(() => showAnswer(question));
  const waiting = new Waiting(path("/work"), () => go({ chosen: null }), again);
  if (!still) {
    onPanel = "";
    panel.waiting(question, waiting.element);
  }
  at("search", HTMLInputElement).value = question;
  try {
    const told = await read<Answer>("/ask", { q: question, at: address.at }, waiting.signal);
    const { evidence } = told;
    const first = evidence[0]?.names[0];
    if (!whole && first !== undefined && !store.vertices.has(`e:${first}`)) await load(first, true);
    if (mine !== turn) return;
    light(evidence);
    const model = await editing.modelName();
    show(["answer", told, model], () => panel.answer(told, when(), model, (place) => void askModel(question, place)));
  } catch (error) {
    if (mine === turn && !wasGivenUp(error)) show(["failed", said(error)], () => panel.failed(question, said(error), again));
    return;
  } finally {
    waiting.end();
  }
  await fit();
}

/** Asks the model of the server, which may cost money: only when a person wants it. */
async function askModel(question: string, place: HTMLElement): Promise<void> {
  const waiting = new Waiting(path("/work"), () => fill(place));
  fill(place, waiting.element);
  try {
    const told = await post<Answer>(path("/ask"), { question, at: address.at === null ? null : String(address.at) }, waiting.signal);
    panel.modelAnswer(place, told);
  } catch (error) {
    if (!wasGivenUp(error)) fill(place, h("p", { class: "error", role: "alert" }, said(error)));
  } finally {
    waiting.end();
  }
}

/** Puts statements in the light, also those that have ended. */
function light(statements: readonly { number: number | null }[]): void {
  const numbers = new Set(statements.map(({ number }) => number));
  filters.kept.clear();
  for (const edge of store.edges.values()) {
    if (edge.number !== null && numbers.has(edge.number)) filters.kept.add(edge.id);
  }
  redraw();
  drawing?.choose(filters.kept.size ? { kind: "evidence", ids: [...filters.kept] } : null);
}

/** Loads a part of the neighbourhood of a name: what follows on what was loaded before, or it alone. */
async function load(name: string, alone = false): Promise<void> {
  takeIn(await askPart(name, alone), alone);
}

const askPart = (name: string, alone: boolean): Promise<Neighbourhood> =>
  read<Neighbourhood>("/neighbours", {
    name,
    offset: alone ? 0 : (loaded.get(name)?.shown ?? 0),
    limit: NEIGHBOURS,
    episodes: address.kinds.includes("episode"),
    ...known(),
  });

function takeIn(found: Neighbourhood, alone: boolean): void {
  if (alone) {
    drawing?.clear(still > 0);
    store.clear();
    loaded.clear();
    isReplaced = true;
    at("all", HTMLElement).hidden = false;
  }
  loaded.set(found.centre, { shown: Math.min(found.offset + NEIGHBOURS, found.total), total: found.total });
  const fresh = store.add(found);
  drawing?.grow(fresh, `e:${found.centre}`);
  changed();
}

async function expand(name: string): Promise<void> {
  await guarded(async () => {
    const part = loaded.get(name);
    if (part === undefined || part.shown < part.total) await load(name);
    go({ chosen: { kind: "name", id: name } });
  });
}

// -- filters ------------------------------------------------------------------------------------------------------

const KINDS: EdgeKind[] = ["fact", "thesis", "episode"];

for (const kind of KINDS) {
  at(`kind-${kind}`, HTMLInputElement).addEventListener("change", () =>
    go({ kinds: KINDS.filter((one) => at(`kind-${one}`, HTMLInputElement).checked) }),
  );
}
at("show-ended", HTMLInputElement).addEventListener("change", (event) =>
  go({ ended: (event.target as HTMLInputElement).checked }),
);
at("show-restated", HTMLInputElement).addEventListener("change", (event) =>
  go({ restated: (event.target as HTMLInputElement).checked }),
);
at("show-alone", HTMLInputElement).addEventListener("change", (event) =>
  go({ alone: (event.target as HTMLInputElement).checked }),
);
at("recorded", HTMLSelectElement).addEventListener("change", (event) => {
  const { value } = event.target as HTMLSelectElement;
  go({ recorded: value === "" ? null : Number(value) });
});
for (const view of ["map", "graph"] as const) {
  at(`view-${view}`, HTMLButtonElement).addEventListener("click", () => go({ view }));
}
const relationFilter = at("relation-filter", HTMLInputElement);
relationFilter.addEventListener("input", whenQuiet(80, drawRelations));
for (const [id, hide] of [
  ["relations-all", false],
  ["relations-none", true],
] as const) {
  at(id, HTMLButtonElement).addEventListener("click", () => {
    const listed = new Set(listedRelations().map(([relation]) => relation));
    const others = address.hidden.filter((relation) => !listed.has(relation));
    go({ hidden: hide ? [...others, ...listed] : others });
  });
}

function showFilters(): void {
  for (const kind of KINDS) at(`kind-${kind}`, HTMLInputElement).checked = address.kinds.includes(kind);
  at("show-ended", HTMLInputElement).checked = address.ended;
  at("show-restated", HTMLInputElement).checked = address.restated;
  at("show-alone", HTMLInputElement).checked = address.alone;
  drawRelations();
}

function showRecorded(): void {
  const times = [...(summary?.recorded ?? [])].reverse();
  const chosen = address.recorded;
  if (chosen !== null && !times.includes(chosen)) times.unshift(chosen);
  fill(
    at("recorded", HTMLSelectElement),
    h("option", { value: "", selected: chosen === null }, "by now"),
    ...times.map((one) => h("option", { value: one, selected: one === chosen }, shownTime(one))),
  );
  document.body.classList.toggle("past-record", chosen !== null);
}

function listedRelations(): [string, number][] {
  const text = relationFilter.value.trim().toLowerCase();
  return store.relations(filters).filter(([relation]) => relation.toLowerCase().includes(text));
}

function drawRelations(): void {
  const listed = listedRelations();
  const rows = listed.slice(0, 200).map(([relation, number]) =>
    h(
      "li",
      {},
      h(
        "label",
        {},
        h("input", {
          type: "checkbox",
          checked: !address.hidden.includes(relation),
          change: (event) =>
            go({
              hidden: (event.target as HTMLInputElement).checked
                ? address.hidden.filter((other) => other !== relation)
                : [...address.hidden, relation],
            }),
        }),
        h("span", { class: `line relation-${relationNumber(relation) + 1}`, "aria-hidden": "true" }),
        h("span", { class: "name" }, relation),
        h("span", { class: "muted" }, number),
      ),
    ),
  );
  fill(
    at("relations", HTMLElement),
    ...rows,
    listed.length > rows.length ? h("li", { class: "muted" }, `and ${listed.length - rows.length} more`) : null,
  );
}

const drawRelationsSoon = whenQuiet(QUIET, drawRelations);

at("zoom-in", HTMLButtonElement).addEventListener("click", () => drawing?.zoom(1 / 1.5));
at("zoom-out", HTMLButtonElement).addEventListener("click", () => drawing?.zoom(1.5));
at("fit", HTMLButtonElement).addEventListener("click", () => void drawing?.fit());
at("all", HTMLButtonElement).addEventListener("click", () => go({ only: false, chosen: null, cluster: null, skip: 0 }));
document.addEventListener("keydown", (event) => {
  const typing =
    (event.target instanceof HTMLInputElement && event.target.type !== "range" && event.target.type !== "checkbox") ||
    event.target instanceof HTMLTextAreaElement;
  if (event.key === "/" && !typing) {
    event.preventDefault();
    at("search", HTMLInputElement).focus();
  } else if (event.key === "Escape" && document.querySelector("dialog[open]") === null) {
    if (address.chosen !== null) go({ chosen: null });
    else if (address.skip) go({ skip: 0 });
    else if (address.cluster !== null) {
      const above = store.clusters?.path.at(-2);
      go({ cluster: above === undefined ? null : { name: above.name, level: above.level } });
    }
  }
});

async function listMemories(): Promise<void> {
  const select = at("memories", HTMLSelectElement);
  try {
    const { memories } = await get<{ memories: Listed[] }>("/api/memories");
    fill(
      select,
      ...memories.map(({ key, label, exists }) =>
        h("option", { value: key, selected: key === address.memory }, exists ? label : `${label} (not there yet)`),
      ),
    );
    select.hidden = memories.length < 2;
  } catch (error) {
    tell(said(error));
  }
}

at("memories", HTMLSelectElement).addEventListener("change", (event) => {
  address = { ...readAddress(""), memory: (event.target as HTMLSelectElement).value };
  history.pushState(null, "", location.pathname + writeAddress(address));
  void apply();
});

// the server reads all runs for the list: the picture comes first
void apply().finally(listMemories);
watch(OFTEN);

// A game's memory as the map that it is: rooms, ways, and what has not been taken yet.
import { fill, h } from "../common/dom";
import { type MapDrawing, mapPicture } from "../common/map";
import type { Store } from "./data";

const SIDE = /^is (north|south|east|west|northeast|northwest|southeast|southwest) of$/;
const FEWEST = 2; // ways that make a map

/** Whether what is known is a map: rooms with exits, or ways between them. */
export function hasMap(store: Store): boolean {
  let ways = 0;
  for (const { relation } of store.edges.values()) {
    if (relation === "has exit" || SIDE.test(relation)) ways += 1;
    if (ways >= FEWEST) return true;
  }
  return false;
}

export class MapView {
  constructor(
    private readonly place: HTMLElement,
    private readonly choose: (room: string) => void,
  ) {}

  show(drawing: MapDrawing, chosen: string | null): void {
    const picture = mapPicture(drawing, this.choose);
    for (const room of picture.querySelectorAll("[data-room]")) {
      room.classList.toggle("lit", room.getAttribute("data-room")?.toLowerCase() === chosen);
    }
    fill(this.place, drawing.rooms.length ? picture : h("p", { class: "empty" }, "No room is known at this time."));
  }
}

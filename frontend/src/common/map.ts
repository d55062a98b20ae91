// The map of a game as the memory has it: rooms, ways, and loose ends.
import { s } from "./dom";

export interface Room {
  name: string;
  x: number;
  y: number;
  here: boolean;
  things: string[];
}

export interface MapDrawing {
  width: number;
  height: number;
  box: [number, number];
  rooms: Room[];
  ways: { from: [number, number]; to: [number, number]; presumed: boolean }[];
  exits: { x: number; y: number; direction: string }[];
}

const ARROWS: Record<string, string> = {
  north: "↑",
  south: "↓",
  east: "→",
  west: "←",
  northeast: "↗",
  northwest: "↖",
  southeast: "↘",
  southwest: "↙",
  up: "⇡",
  down: "⇣",
};
const NAME_LETTERS = 20; // of a name that fit into a room
const THING_LETTERS = 26;
const LEAST_WIDTH = 560; // of the picture, so that one room does not fill it
const LEAST_HEIGHT = 190;
const THINGS = 2; // listed in a room

/** A few rooms are drawn in the middle, no larger than many are. */
function boxAround({ width, height }: MapDrawing): string {
  const box = [Math.max(width, LEAST_WIDTH), Math.max(height, LEAST_HEIGHT)] as const;
  return `${(width - box[0]) / 2} ${(height - box[1]) / 2} ${box[0]} ${box[1]}`;
}

/** The map; `pick` is told of the room that is clicked, or entered by the keyboard. */
export function mapPicture(drawing: MapDrawing, pick?: (room: string) => void): SVGSVGElement {
  const [width, height] = drawing.box;
  const here = drawing.rooms.find((room) => room.here)?.name;
  const svg = s("svg", {
    class: "map",
    viewBox: boxAround(drawing),
    role: pick ? "group" : "img",
    "aria-label": `map of ${drawing.rooms.length} rooms, ${drawing.exits.length} unexplored exits${here ? `, the player is in ${here}` : ""}`,
  });
  for (const way of drawing.ways) {
    svg.append(
      s("line", {
        class: way.presumed ? "way presumed" : "way",
        x1: way.from[0],
        y1: way.from[1],
        x2: way.to[0],
        y2: way.to[1],
      }),
    );
  }
  for (const room of drawing.rooms) {
    const middle = room.x + width / 2;
    const group = s(
      "g",
      pick
        ? {
            class: room.here ? "room here" : "room",
            tabindex: 0,
            role: "button",
            "aria-label": room.name,
            "data-room": room.name,
            click: () => pick(room.name),
            keydown: (event) => {
              if ((event as KeyboardEvent).key === "Enter") pick(room.name);
            },
          }
        : { class: room.here ? "room here" : "room" },
      s("title", {}, [room.name, ...room.things].join("\n")),
      s("rect", { x: room.x, y: room.y, width, height, rx: 10 }),
      s("text", { class: "name", x: middle, y: room.y + 22, "text-anchor": "middle" }, cut(room.name, NAME_LETTERS)),
    );
    const more = room.things.length - THINGS;
    const shown = more > 0 ? [...room.things.slice(0, THINGS - 1), `and ${more + 1} more`] : room.things;
    shown.forEach((thing, number) =>
      group.append(
        s("text", { class: "thing", x: middle, y: room.y + 39 + 15 * number, "text-anchor": "middle" }, cut(thing, THING_LETTERS)),
      ),
    );
    svg.append(group);
  }
  for (const exit of drawing.exits) {
    svg.append(
      s(
        "text",
        { class: "exit", x: exit.x, y: exit.y, "text-anchor": "middle" },
        ARROWS[exit.direction] ?? exit.direction,
        s("title", {}, `${exit.direction}: not explored yet`),
      ),
    );
  }
  return svg;
}

const cut = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 1).trimEnd()}…`;

// The steps of a run, loaded in blocks when they are needed.
import { get } from "../common/api";
import type { Step } from "../common/step";
import type { StepsTold } from "./data";

const BLOCK = 100; // steps that are asked for at a time

export class Steps {
  private readonly blocks = new Map<number, Promise<Step[]>>();

  constructor(private readonly run: string) {}

  async at(step: number): Promise<Step | undefined> {
    const number = Math.floor(step / BLOCK);
    return (await this.block(number))[step - number * BLOCK];
  }

  private block(number: number): Promise<Step[]> {
    const known = this.blocks.get(number);
    if (known) return known;
    const path = `/api/runs/${encodeURIComponent(this.run)}/steps`;
    const block = get<StepsTold>(path, { offset: number * BLOCK, limit: BLOCK }).then((told) => told.steps);
    this.blocks.set(number, block);
    block.catch(() => this.blocks.delete(number)); // the next attempt asks again
    return block;
  }
}

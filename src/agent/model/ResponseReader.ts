/**
 * What the readers of both providers share: a reader takes what streams in, chunk by chunk, and gives the parts that
 * `effect/ai` wants.
 */
import type { Response } from "effect/ai"
import type { AttemptFailed } from "./ProviderFailure.ts"
import { TextJoiner } from "./ProviderText.ts"

export type Parts = ReadonlyArray<Response.StreamPartEncoded>

export interface ResponseReader<Chunk> {
  /** The parts that are complete with this chunk. */
  readonly push: (chunk: Chunk) => Parts | AttemptFailed
  /** The rest: open texts, the calls, and `finish`. `complete`: the transport saw the provider's own end mark. */
  readonly end: (complete: boolean) => Parts | AttemptFailed
}

/** True for what a user could have seen: after it nothing is asked again. */
export const isOutput = (part: Response.StreamPartEncoded): boolean =>
  part.type === "text-delta" || part.type === "tool-call" || part.type === "finish"

/** One text of a response. Says nothing before there is text, so that an attempt without output leaves no trace. */
export class TextStream {
  private readonly id: string
  private readonly joiner = new TextJoiner()
  private started = false

  constructor(id: string) {
    this.id = id
  }

  push(piece: string): Parts {
    return this.delta(this.joiner.push(piece))
  }

  end(): Parts {
    const rest = this.delta(this.joiner.end())
    if (!this.started) return rest
    this.started = false
    return [...rest, { type: "text-end", id: this.id }]
  }

  private delta(delta: string): Parts {
    if (delta === "") return []
    const part = { type: "text-delta", id: this.id, delta } as const
    if (this.started) return [part]
    this.started = true
    return [{ type: "text-start", id: this.id }, part]
  }
}

/** A count as usage wants it: a non-negative integer, or nothing. */
export const count = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined

/** Subtracts known parts from a known total. */
export const rest = (total: number | undefined, ...parts: ReadonlyArray<number | undefined>): number | undefined =>
  total === undefined
    ? undefined
    : Math.max(
        0,
        parts.reduce<number>((left, part) => left - (part ?? 0), total)
      )

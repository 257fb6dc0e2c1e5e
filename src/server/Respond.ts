/** One response to one request, and never a second. base-protocol section 2. */
import * as Envelope from "../protocol/Envelope.ts"
import type { ErrorCode } from "../protocol/ErrorCode.ts"
import type { JsonObject } from "../protocol/Json.ts"
import type { OrderedWriterShape } from "../transport/OrderedWriter.ts"

/** Places the response in the writer's order, synchronously; calls after the first do nothing. */
export interface Respond {
  readonly success: (result: JsonObject) => void
  readonly failure: (code: ErrorCode, message: string, path?: string) => void
  readonly done: () => boolean
}

/** `id` is null where the request's own could not be read. */
export const respondTo = (writer: Pick<OrderedWriterShape, "placeResponse">, id: string | null): Respond => {
  let answered = false
  const failure: Respond["failure"] = (code, message, path) => {
    if (answered) return
    answered = true
    writer.placeResponse(Envelope.failure(id, { code, message, ...(path === undefined ? {} : { path }) }))
  }
  return {
    success: (result) => {
      if (answered || id === null) return
      const place = writer.placeResponse(Envelope.success(id, result))
      // Results are bounded where they are made; a method that let one grow past the frame is ours to mend.
      if (place._tag === "TooLarge") failure("internal_error", "the result does not fit into a frame")
      else answered = true
    },
    failure,
    done: () => answered
  }
}

/** How a case ends before its end. */
import { Data, Effect } from "effect"

/** The backend does not do what the case asks for. `message` says what was wanted and what came. */
export class CaseFailed extends Data.TaggedError("CaseFailed")<{ readonly message: string }> {}

/** The case cannot be reached through this backend: neither passed nor failed. `message` is the reason. */
export class CaseSkipped extends Data.TaggedError("CaseSkipped")<{ readonly message: string }> {}

/** How a case ends early. */
export type CaseEnd = CaseFailed | CaseSkipped

/** Ends the case as failed. */
export const fail = (message: string): Effect.Effect<never, CaseFailed> => Effect.fail(new CaseFailed({ message }))

/** Links that a program without Effect makes: waited for only as long as they are wanted, and never lost. */
import * as Effect from "effect/Effect"
import { makeBudget } from "../platform/Bounded.ts"
import { CLOSING_MS } from "./AgentChild.ts"
import { AgentNotStarted } from "./AgentErrors.ts"
import type { AgentLink } from "./AgentLink.ts"
import { textOfThrow } from "./ToolResultOf.ts"

const drop = (link: AgentLink): Effect.Effect<void> =>
  Effect.andThen(link.end, Effect.flatMap(makeBudget(CLOSING_MS), link.close))

/**
 * Makes a link. Interruptible although a child is opened uninterruptibly: a promise that never ends must not keep an agent
 * from closing. A link that comes when nobody waits any more is closed. What `make` throws is the reason of the failure.
 */
export const linkBy = (make: () => AgentLink | Promise<AgentLink>): Effect.Effect<AgentLink, AgentNotStarted> =>
  Effect.suspend(() => {
    let wanted = true
    let made: AgentLink | undefined
    return Effect.tryPromise({
      try: async () => {
        const link = await make()
        if (wanted) made = link
        else await Effect.runPromise(drop(link))
        return link
      },
      catch: (thrown) => new AgentNotStarted({ command: "link()", reason: textOfThrow(thrown) })
    }).pipe(
      Effect.onInterrupt(() =>
        Effect.suspend(() => {
          wanted = false
          return made === undefined ? Effect.void : drop(made)
        })
      ),
      Effect.interruptible
    )
  })

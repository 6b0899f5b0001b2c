import { ToolError } from '../../../contract/tool-error.ts'
import type { HttpAnswer } from '../../../registry/http/request.ts'
import { askServer, sleep } from './ask-server.ts'
import type { Place } from './deliver.ts'
import { WORKFLOWS } from './wire.ts'

/** Milliseconds of one look; then the next begins, so that a connection that died unseen is noticed. */
const LOOK = 60_000
const LONGEST_PAUSE = 5_000

/** Waits for the end of an execution, whatever becomes of the server meanwhile; rejects with DEPENDENCY when it was away for longer than `patience` seconds. */
export async function followToEnd(
  id: string,
  {
    ingress,
    signal,
    patience,
    now,
  }: Place & { readonly patience: number; readonly now: () => number },
): Promise<HttpAnswer> {
  let lastSeen = now()
  for (let pause = 200; ; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
    try {
      const answer = await askServer(ingress, {
        method: 'GET',
        path: `/restate/workflow/${WORKFLOWS}/${id}/attach`,
        signal,
        timeout: LOOK,
      })
      // A server that is about to go, or just came, answers so for a while.
      if (answer.status < 500 || answer.headers.has('x-restate-id')) return answer
      throw new ToolError(
        'DEPENDENCY',
        `the Restate server at ${ingress.url} answered with HTTP status ${answer.status}`,
      )
    } catch (error) {
      if (!ToolError.is(error) || !error.retryable || signal.aborted) throw error
      if (error.code === 'TIMEOUT') {
        lastSeen = now()
        pause = 100
      } else if (now() - lastSeen > patience * 1000) throw error
    }
    await sleep(pause, signal)
  }
}

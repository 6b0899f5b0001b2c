import type { ServerResponse } from 'node:http'
import { cutBasePath, splitTarget } from '../base-path.ts'
import type { HttpApp } from '../exchange.ts'
import { sendAnswer } from './answer.ts'
import { NodeRequest } from './request.ts'
import type { NodeMessage } from './request.ts'
import { outside, refuse, refuseThrown } from '../refuse.ts'

export type NodeOptions = {
  /** The part of the path that is not the app's: `''` or `/x`. */
  readonly basePath?: string
  /** The listener is told of `Expect: 100-continue` before anything was said, so that a refused body is never sent. */
  readonly expectContinue?: boolean
}

/** What `http.createServer` and Express take as a listener. */
export type NodeListener = (request: NodeMessage, response: ServerResponse) => void

/** Serves an app by node:http without objects in between: no Request, no Response, no streams. */
export function nodeListener(
  app: HttpApp,
  { basePath = '', expectContinue = false }: NodeOptions = {},
): NodeListener {
  return (message, response) => {
    const target =
      basePath === '' ? message.url! : below(message.originalUrl ?? message.url!, basePath)
    if (target === undefined) return void sendAnswer(message, response, refuse(outside(basePath)))
    void serve(app, new NodeRequest(message, response, target, expectContinue), message, response)
  }
}

async function serve(
  app: HttpApp,
  request: NodeRequest,
  message: NodeMessage,
  response: ServerResponse,
): Promise<void> {
  let answer
  try {
    answer = await app(request)
  } catch (error) {
    answer = refuseThrown(error)
  }
  try {
    await sendAnswer(message, response, answer)
  } catch {
    // An answer that cannot be sent, such as one with a line break in a header.
    response.destroy()
  } finally {
    request.finish()
  }
}

function below(target: string, basePath: string): string | undefined {
  const { path, search } = splitTarget(target)
  const rest = cutBasePath(path, basePath)
  return rest === undefined ? undefined : search === '' ? rest : `${rest}?${search}`
}

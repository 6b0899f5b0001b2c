import type { JsonObject } from '../../../contract/json.ts'
import type { HttpAnswer, HttpRequest } from '../../../surfaces/http/exchange.ts'
import type { Backend } from '../backend.ts'
import type { StreamOptions } from '../stream/stream-answer.ts'
import type { BodyShape } from './read-body.ts'

/** One request with what it is about. */
export type Asked = {
  readonly backend: Backend
  readonly request: HttpRequest
  readonly query: URLSearchParams
  /** What stands in the places of the path: the id of a run, the index of an artifact, the name of a tool or a workflow. */
  readonly run: string
  readonly index: number
  readonly name: string
  /** The checked body of a POST. */
  readonly body: JsonObject
  readonly readOnly: boolean
  readonly stream: StreamOptions
}

/** What can be done by one method at one path. */
export type Route = {
  readonly method: 'GET' | 'POST'
  /** The path behind `/api`, with places for what varies: `/runs/:run/artifacts/:index`. */
  readonly path: string
  readonly answer: (asked: Asked) => HttpAnswer | Promise<HttpAnswer>
  /** What the body of a POST has to be. */
  readonly body?: BodyShape
  /** It changes nothing, so that it may be done in read-only mode too. */
  readonly reads: boolean
}

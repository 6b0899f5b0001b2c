import type { JsonObject } from '../../../contract/json.ts'
import { documentAnswer } from '../../../surfaces/http/answers.ts'
import { streamAnswer } from '../stream/stream-answer.ts'
import { attachmentAnswer } from './attachment.ts'
import type { BodyShape } from './read-body.ts'
import type { Asked, Route } from './route.ts'

const text = { is: 'text' } as const
const yes = { is: 'switch' } as const
const object = { is: 'map', of: { is: 'anything' } } as const

/** Everything that can be asked for below `/api`. */
export const ROUTES: readonly Route[] = [
  get('/about', ({ backend, readOnly }) => ({ ...backend.catalogue.about(), read_only: readOnly })),
  get('/runs', ({ backend, query }) => backend.runs.list(query)),
  get('/runs/:run', ({ backend, run }) => backend.runs.detail(run)),
  get('/runs/:run/events', ({ backend, run, query }) => backend.runs.events(run, query)),
  get('/runs/:run/log', ({ backend, run, query }) => backend.runs.log(run, query)),
  {
    method: 'GET',
    path: '/runs/:run/artifacts/:index',
    reads: true,
    answer: async ({ backend, run, index }) =>
      attachmentAnswer(await backend.runs.artifact(run, index)),
  },
  get('/decisions', ({ backend }) => backend.runs.decisions()),
  get('/plans', ({ backend }) => backend.runs.plans()),
  get('/tools', ({ backend }) => backend.catalogue.tools()),
  get('/tools/:name', ({ backend, name }) => backend.catalogue.tool(name)),
  get('/workflows', ({ backend }) => backend.catalogue.workflows()),
  get('/workflows/:name', ({ backend, name }) => backend.catalogue.workflow(name)),
  get('/doctor', ({ backend }) => backend.catalogue.doctor()),
  {
    method: 'GET',
    path: '/stream',
    reads: true,
    answer: ({ backend, request, stream }) => streamAnswer(request, backend.runs, stream),
  },

  post(
    '/runs',
    {
      keys: { tool: text, input: object, dry_run: yes, confirm: yes },
      required: ['tool', 'input'],
    },
    ({ backend, body }) =>
      backend.actions.start(
        body as { tool: string; input: JsonObject; dry_run?: boolean; confirm?: boolean },
      ),
  ),
  post('/runs/:run/cancel', { keys: { reason: text } }, ({ backend, run, body }) =>
    backend.actions.cancel(run, body['reason'] as string | undefined),
  ),
  post('/runs/:run/resume', { keys: {} }, ({ backend, run }) => backend.actions.resume(run)),
  post('/runs/:run/retry', { keys: { input: object, confirm: yes } }, ({ backend, run, body }) =>
    backend.actions.retry(run, body['input'] as JsonObject | undefined, body['confirm'] === true),
  ),
  post(
    '/runs/:run/answer',
    {
      keys: { question: text, value: { is: 'anything' }, note: text },
      required: ['question', 'value'],
    },
    ({ backend, run, body }) =>
      backend.actions.answer(
        run,
        body['question'] as string,
        body['value'],
        body['note'] as string | undefined,
      ),
  ),
  looking('/runs/:run/artifacts/:index/verify', { keys: {} }, ({ backend, run, index }) =>
    backend.runs.verify(run, index),
  ),
  looking(
    '/tools/:name/preview',
    { keys: { input: object }, required: ['input'] },
    ({ backend, name, body }) => backend.catalogue.preview(name, body['input'] as JsonObject),
  ),
  post('/tools/rescan', { keys: {} }, ({ backend }) => backend.catalogue.rescan()),
  post(
    '/doctor/clean',
    { keys: { days: { is: 'count' } }, required: ['days'] },
    ({ backend, body }) => backend.actions.clean(body['days'] as number),
  ),
]

type Make = (asked: Asked) => unknown

function get(path: string, make: Make): Route {
  return { method: 'GET', path, reads: true, answer: document(make) }
}

function post(path: string, body: Omit<BodyShape, 'is'>, make: Make): Route {
  return {
    method: 'POST',
    path,
    reads: false,
    body: { is: 'object', ...body },
    answer: document(make),
  }
}

// A POST that changes nothing: what it asks about does not fit into an address, or takes work.
function looking(path: string, body: Omit<BodyShape, 'is'>, make: Make): Route {
  return { ...post(path, body, make), reads: true }
}

function document(make: Make): Route['answer'] {
  return async (asked) => {
    const answer = documentAnswer((await make(asked)) ?? {})
    return { ...answer, headers: { ...answer.headers, 'cache-control': 'no-store' } }
  }
}

import { runOnce } from '../run-once.ts'
import type { Form } from './form.ts'

/** The input as one JSON document on stdin, of any size. */
export const stdin: Form = (request) =>
  runOnce(request, { args: [], input: `${JSON.stringify(request.input)}\n` }, { expects: 'json' })

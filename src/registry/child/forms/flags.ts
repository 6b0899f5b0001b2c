import { flagArguments } from '../argv/flag-arguments.ts'
import { runOnce } from '../run-once.ts'
import type { Form } from './form.ts'

/** Each field of the input as a flag. */
export const flags: Form = (request) =>
  runOnce(request, { args: flagArguments(request.input) }, { expects: 'text' })

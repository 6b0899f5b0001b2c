import { flagArguments } from '../registry/child/argv/flag-arguments.ts'
import type { ChildCall } from '../registry/child/child-call.ts'
import { buildProgramArgv } from '../registry/help/build-argv.ts'
import type { Given } from './make-request.ts'
import type { RunInput } from './runner-type.ts'

/** What a tool gets, in the way in which it takes it: an input as flags, as one document, or as it is where it is no program. */
export function givenOf(given: RunInput, call: ChildCall | undefined): Given {
  if ('args' in given) return { args: given.args }
  const { input } = given
  if (call?.form === 'flags' || call?.form === 'protocol') return { args: flagArguments(input) }
  if (call?.form === 'program' && call.program)
    return { args: buildProgramArgv(call.program, input) }
  return call?.form === 'toolable' ? { args: [JSON.stringify(input)] } : { args: [], input }
}

/** Whether a tool takes one document, and no arguments. */
export function takesDocument(call: ChildCall | undefined): boolean {
  return call === undefined || call.form === 'json' || call.form === 'stdin'
}

import { ToolError } from '../../../contract/tool-error.ts'
import { buildProgramArgv } from '../../help/build-argv.ts'
import { runOnce } from '../run-once.ts'
import type { Form } from './form.ts'

/** An ordinary program, by what its help says; its output is data, and its exit status says how it went. */
export const program: Form = async (request) => {
  const { program: form } = request.call
  if (!form) throw new ToolError('INTERNAL', 'nobody has said how the program takes its arguments')
  return runOnce(request, { args: buildProgramArgv(form, request.input) }, { expects: 'verbatim' })
}

import { ToolError } from '../../contract/tool-error.ts'
import type { ForeignRun } from '../foreign/define-foreign.ts'
import type { CallForm, ChildCall } from './child-call.ts'
import { flags } from './forms/flags.ts'
import type { Form } from './forms/form.ts'
import { json } from './forms/json.ts'
import { program } from './forms/program.ts'
import { protocol } from './forms/protocol.ts'
import { stdin } from './forms/stdin.ts'
import { toolable } from './forms/toolable.ts'
import type { HeldBy } from './held/held-call.ts'
import { tracked } from './run-once.ts'
import type { ChildServices } from './services.ts'

const FORMS: { readonly [form in CallForm]: Form } = {
  json,
  flags,
  stdin,
  protocol,
  toolable,
  program,
}

/** Runs a tool that lives in another process, in the form that it is called by: held by its manifest, or with the rights of its caller. */
export function childRunner(call: ChildCall, services: ChildServices, held?: HeldBy): ForeignRun {
  const run = FORMS[call.form]
  return (input, ctx, looked) => {
    // A script hears of a dry run by its own input only; what does not hear of it would act.
    const hears = call.form === 'toolable' || input['dry_run'] === true || input['dryRun'] === true
    if (ctx.dryRun && !hears)
      throw new ToolError(
        'PRECONDITION',
        'the tool has no field by which it could be told of a dry run',
        { recoverable: false },
      )
    const request = { call, services, input, ctx, looked }
    return held
      ? tracked(
          services.running,
          import('./held/run-held.ts').then(({ runHeld }) => runHeld(run, request, held)),
        )
      : run(request)
  }
}

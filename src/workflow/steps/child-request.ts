import { ToolError } from '../../contract/tool-error.ts'
import { inputFromWords } from '../../define/argv/input-from-words.ts'
import { narrowPermissions } from '../../process/permissions/narrow.ts'
import type { FoundProgram } from '../../registry/found.ts'
import { givenOf, takesDocument } from '../../runner/given-of.ts'
import { makeRequest } from '../../runner/make-request.ts'
import type { Given } from '../../runner/make-request.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import type { Entry } from '../../registry/entry.ts'
import type { StepCall, StepHost } from './step-host.ts'

type ProgramStep = {
  readonly host: StepHost
  readonly call: StepCall
  readonly entry: Entry
  readonly program: FoundProgram
}

/** What the run of a step is asked to do. Throws PERMISSION where the step allows its tool more than that asks for, USAGE or INVALID_INPUT for words that it does not know. */
export async function childRequest(step: ProgramStep, paths: RunPaths): Promise<RunRequest> {
  const {
    host: { cwd, env, traceparent },
    call,
    entry,
  } = step
  const program = await narrowed(step, paths)
  const options = {
    retries: 0,
    caller: 'workflow',
    idempotencyKey: call.idempotencyKey,
    ...(call.timeout !== undefined && { timeout: call.timeout }),
  }
  const where = { cwd, env: traceparent === undefined ? env : { ...env, TRACEPARENT: traceparent } }
  const request = await makeRequest(paths.id, entry, program, await readGiven(step), options, where)
  return { ...request, parent: { run_id: call.workflow, step: call.step } }
}

async function readGiven({ call: { given }, entry, program, host }: ProgramStep): Promise<Given> {
  const { call } = program
  if ('args' in given && takesDocument(call))
    return {
      args: given.args,
      input: inputFromWords((await entry.definition.compiled()).manifest, given.args, host.env),
    }
  const made = givenOf(given, call)
  // Whoever wrote the step has agreed to it.
  return call.destructive ? { ...made, args: [...made.args, '--yes'] } : made
}

// Its own permissions name lines of its manifest; those of the step stand elsewhere.
async function narrowed(
  { call: { permissions: wanted }, entry, program, host: { cwd } }: ProgramStep,
  { workspace }: RunPaths,
): Promise<FoundProgram> {
  if (!wanted) return program
  if (program.orchestrator)
    throw new ToolError(
      'PERMISSION',
      `'${entry.id}' starts other tools, and what those do nobody can hold to the permissions of a step`,
      { suggestion: 'Take the permissions out of the step' },
    )
  const { permissions: own, manifest: file, ...rest } = program
  return {
    ...rest,
    permissions: await narrowPermissions({ wanted, own, file, tool: entry.id }, { workspace, cwd }),
  }
}

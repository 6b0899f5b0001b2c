import type { Outcome } from '../../contract/outcome.ts'
import { ToolError, toolErrorFrom } from '../../contract/tool-error.ts'
import { call, definitionOf } from '../../call/tool.ts'
import type { Tool } from '../../call/tool.ts'
import type { CallOptions } from '../../call/options.ts'
import { selectEntries } from '../../registry/filter.ts'
import type { Entry } from '../../registry/entry.ts'
import { createRun } from '../../runner/folder/create-run.ts'
import { findRunsFolder } from '../../runner/folder/find-runs-folder.ts'
import { recover } from '../../runner/folder/recover.ts'
import { newRunId } from '../../runner/folder/run-id.ts'
import { makeRequest } from '../../runner/make-request.ts'
import { performRun } from '../../runner/perform-run.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import type { BuiltinContext } from '../../surfaces/builtin/builtin.ts'
import { dialectContext } from '../../surfaces/cli/dialect-context.ts'
import { printOutcome } from '../../surfaces/cli/print-outcome.ts'
import { chooseProgress } from '../progress/progress-flag.ts'
import { callerOf, openChannels } from '../run/channels.ts'
import { startDetachedRun } from '../run/detach.ts'
import { readRunOptions } from '../run/request.ts'
import { surroundingsOf } from '../run/surroundings.ts'
import { withRegistry } from '../with-registry.ts'
import { AGENT_TOOL, agentTool } from './agent-tool.ts'
import { checkFlags } from './check-flags.ts'
import { concluded } from './conclude.ts'
import { loadModel } from './load-model.ts'
import { openPlainStage } from './stage.ts'
import type { Stage } from './stage.ts'
import { tryPrompt } from './try-prompt.ts'
import { openVoice } from './voice.ts'
import type { AgentFlags } from './settings.ts'
import { prepareHost } from '../run/prepare-host.ts'

const NO_TOOLS =
  'there are no tools here, so the model can only talk: name them in toolable.yaml (toolable init begins one), or give --folder or --prompt'

/** Runs an agent on record; gives the exit status. What cannot work (no model, no such tool) is told before a run begins. */
export async function startAgent(
  { wait, detach, progress: wish, ...given }: AgentFlags,
  context: BuiltinContext,
): Promise<number> {
  const { io, host, globals, set } = context
  const { config, folder, strict, probeUnsandboxed, cache, ...flags } = given
  if (globals.idempotencyKey !== undefined)
    throw new ToolError(
      'USAGE',
      'an agent takes no idempotency key: what a model does is never the same work twice',
      { field: 'idempotency-key', suggestion: 'Leave it out' },
    )
  const progress = chooseProgress(wish, globals, io)
  const surroundings = surroundingsOf(given)
  const settings = {
    ...flags,
    ...(globals.yes && { yes: true }),
    ...(globals.dryRun && { dryRun: true }),
  }
  checkFlags(settings, io.env)
  const model = await loadModel(settings, io)
  if (settings.prompt !== undefined) await tryPrompt(settings.prompt, settings.params, io.cwd)
  const root = findRunsFolder(io.cwd, config)
  await recover(root)
  return withRegistry(surroundings, io, async (registry) => {
    // Fails, and says which was meant.
    const tools = selectEntries(registry.entries as readonly Entry[], settings.tools)
    const warnings = settings.prompt === undefined && tools.length === 0 ? [NO_TOOLS] : []
    let stage: Stage = openPlainStage(context, progress)
    const voice = openVoice(context, () => stage, progress)
    const worker = (artifacts: string, secrets?: CallOptions['secrets']): Tool =>
      agentTool({ registry, artifacts, secrets, model, onEvent: voice.hear }) as Tool
    const entry = { id: AGENT_TOOL, definition: definitionOf(worker(root)), found: {} }
    // A prompt brings tools that no policy has looked at; those of the registry are looked at by each call.
    // What it has done it would do again: whether to go on is for people to decide.
    const request: RunRequest = {
      ...(await makeRequest(
        newRunId(),
        entry,
        undefined,
        { args: [], input: settings },
        { ...readRunOptions({ retries: 0 }, globals, io.cwd), surroundings, caller: callerOf(io) },
        io,
      )),
      command: 'agent',
      ...(settings.prompt === undefined && { orchestrator: true }),
    }
    const paths = createRun(root, request)
    if (detach) return startDetachedRun(paths, request, io, host, globals)
    prepareHost(host)
    if (progress === 'tree')
      stage = await (await import('./tree-stage.ts')).openTreeStage(paths, request, context)
    for (const warning of warnings) voice.warn(warning)
    const channels = openChannels(
      paths,
      io,
      { wait: wait === true, session: globals.session === true },
      stage.ask,
    )
    let outcome: Outcome | undefined
    const ending = await performRun(paths, request, {
      env: io.env,
      registry: {
        call: async (_tool, input, options) =>
          (outcome = await call(worker(paths.artifacts, options?.secrets), input, options)),
      },
      channels,
      onWritten: stage.hear,
      signal: host.signal,
    }).catch(async (error: unknown) => {
      await stage.end(false)
      throw error
    })
    io.stdin.close()
    const told = await concluded(paths, request, ending, outcome)
    await stage.end(told.ok)
    if (!told.ok)
      throw toolErrorFrom({ ...told.error, details: { run_id: paths.id, ...told.error.details } })
    const { presentation } = voice
    // People have seen it already.
    const { message: _message, ...envelope } = told
    if (presentation.mode !== 'text' || globals.stream)
      await printOutcome(
        {
          ...envelope,
          meta: {
            ...told.meta,
            tool: AGENT_TOOL,
            version: set.version,
            run_id: paths.id,
            ...(warnings.length > 0 && { warnings }),
          },
        },
        {
          io,
          presentation,
          context: dialectContext(io, 'agent'),
          streamed: globals.stream === true,
          quiet: globals.quiet === true,
        },
      )
    return ending.rc
  })
}

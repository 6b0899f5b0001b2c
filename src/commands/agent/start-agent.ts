/**
 * `toolable agent`: runs an agent on record. What cannot work is reported before a run begins.
 */

import { createDialectContext, printOutcome } from '../../cli/output.ts'
import type { BuiltinContext } from '../../cli/types.ts'
import type { CallOptions } from '../../core/call.ts'
import { createState } from '../../core/state/state.ts'
import type { Tool } from '../../core/tool.ts'
import { call, getDefinition } from '../../core/tool.ts'
import type { Outcome } from '../../protocol/outcome.ts'
import { reviveToolError, ToolError } from '../../protocol/tool-error.ts'
import type { RegistryEntry } from '../../registry/catalog.ts'
import { selectEntries } from '../../registry/filter.ts'
import type { AttemptOutcome } from '../../runner/attempt-outcome.ts'
import { performRun } from '../../runner/perform-run.ts'
import { recoverRuns } from '../../runner/recover.ts'
import type { RunRequest } from '../../runner/request.ts'
import { createRunRequest } from '../../runner/request.ts'
import { createRun } from '../../runner/run-folder.ts'
import type { RunPaths } from '../../runner/run-paths.ts'
import { createRunId, findRunsFolder } from '../../runner/run-paths.ts'
import { readRunSummary } from '../../runner/summary.ts'
import { compact } from '../../util/values.ts'
import type { CommandContext } from '../command.ts'
import { chooseProgress } from '../command.ts'
import { splitRegistryFlags, withRegistry } from '../config.ts'
import { getRunCaller, openAnswerChannels } from '../run/consent.ts'
import { detachRun, parseRunOptions } from '../run/create-run.ts'
import { prepareHost } from '../run/supervise.ts'
import { createAgentPresenter, createPlainOutput, createTreeOutput } from './agent-output.ts'
import { AGENT_TOOL, createAgentTool } from './agent-tool.ts'
import type { AgentFlags, AgentSettings } from './models.ts'
import { findModelProvider, loadModel, loadPrompt, MODEL_PROVIDERS } from './models.ts'

const NO_TOOLS_WARNING =
  'there are no tools here, so the model can only talk: name them in toolable.yaml (toolable init begins one), or give --folder or --prompt'

/**
 * Runs an agent on record; gives the exit status. Mistakes (no model, no such tool) are
 * reported before a run begins.
 */
export async function startAgent(
  { wait = false, detach, progress: wish, ...given }: AgentFlags,
  context: BuiltinContext,
): Promise<number> {
  const { io, host, globals, set } = context
  const [surroundings, flags] = splitRegistryFlags(given)
  if (globals.idempotencyKey !== undefined)
    throw new ToolError(
      'USAGE',
      'an agent takes no idempotency key: what a model does is never the same work twice',
      { field: 'idempotency-key', suggestion: 'Leave it out' },
    )
  const progress = chooseProgress(wish, context)
  const settings = { ...flags, ...compact({ yes: globals.yes, dryRun: globals.dryRun }) }
  validateFlags(settings, io)
  const model = await loadModel(settings, io)
  if (settings.prompt !== undefined)
    await requireRenderablePrompt(settings.prompt, settings.params, io.cwd)
  const root = findRunsFolder(io.cwd, given.config)
  await recoverRuns(root)
  return withRegistry(surroundings, io, async (registry) => {
    // Fails, and says which was meant.
    const tools = selectEntries(registry.entries as readonly RegistryEntry[], settings.tools)
    const warnings = settings.prompt === undefined && tools.length === 0 ? [NO_TOOLS_WARNING] : []
    let output = createPlainOutput(context, progress)
    const presenter = createAgentPresenter(context, () => output, progress)
    const worker = (artifacts: string, secrets?: CallOptions['secrets']): Tool =>
      createAgentTool({ registry, artifacts, secrets, model, onEvent: presenter.addEvent }) as Tool
    const entry = { id: AGENT_TOOL, definition: getDefinition(worker(root)), found: {} }
    // A retry would do again what the agent has done; whether to do so is for people to decide.
    const options = {
      ...parseRunOptions({ retries: 0 }, globals, io.cwd),
      surroundings,
      caller: getRunCaller(io),
    }
    const input = { args: [], input: settings }
    const request: RunRequest = {
      ...(await createRunRequest(createRunId(), entry, undefined, input, options, io)),
      command: 'agent',
      // No policy has checked the tools of a prompt; those of the registry are checked in each call.
      ...compact({ orchestrator: settings.prompt === undefined || undefined }),
    }
    const paths = createRun(root, request)
    if (detach) return detachRun(paths, request, context)
    prepareHost(host)
    if (progress === 'tree') output = await createTreeOutput(paths, request, context)
    for (const warning of warnings) presenter.warn(warning)
    const channels = openAnswerChannels(paths, context, wait, output.ask)
    let outcome: Outcome | undefined
    const ending = await performRun(paths, request, {
      env: io.env,
      registry: {
        call: async (_tool, input, options) =>
          (outcome = await call(worker(paths.artifacts, options?.secrets), input, options)),
      },
      channels,
      onWritten: output.addRecord,
      signal: host.signal,
    }).catch(async (error: unknown) => {
      await output.end(false)
      throw error
    })
    io.stdin.close()
    const reported = await toAgentOutcome(paths, request, ending, outcome)
    await output.end(reported.ok)
    if (!reported.ok) {
      const { error } = reported
      throw reviveToolError({ ...error, details: { run_id: paths.id, ...error.details } })
    }
    const { presentation } = presenter
    // People have seen it already.
    if (presentation.mode === 'text' && !globals.stream) return ending.rc
    const { message: _message, ...envelope } = reported
    const meta = {
      ...reported.meta,
      tool: AGENT_TOOL,
      version: set.version,
      run_id: paths.id,
      ...compact({ warnings: warnings.length > 0 ? warnings : undefined }),
    }
    await printOutcome(
      { ...envelope, meta },
      {
        io,
        presentation,
        context: createDialectContext(io, 'agent'),
        streamed: globals.stream === true,
        quiet: globals.quiet === true,
      },
    )
    return ending.rc
  })
}

/** Refuses flags that would do nothing beside the others. Throws INVALID_INPUT. */
function validateFlags(
  { prompt, params, tools, model, baseUrl, apiKeyFile }: AgentSettings,
  { env }: CommandContext,
): void {
  if (params !== undefined && prompt === undefined)
    throw createUselessFlagError(
      'params',
      'goes with --prompt only',
      'Add --prompt ./file.mjs, or leave it out',
    )
  if (tools !== undefined && prompt !== undefined)
    throw createUselessFlagError(
      'tools',
      'chooses tools of the registry, and --prompt brings its own',
      'Leave out one of the two',
    )
  const wanted = model ?? env['TOOLABLE_MODEL']
  if (wanted === undefined || findModelProvider(wanted)) return
  const providers = Object.keys(MODEL_PROVIDERS)
  const names = providers.map((name) => `${name}:<name>`).join(' or ')
  const why = `goes with ${names}, and the model is '${wanted.slice(0, 100)}'`
  if (baseUrl !== undefined)
    throw createUselessFlagError(
      'base-url',
      why,
      `Leave it out, or name a model with ${providers.map((name) => `${name}:`).join(' or ')}`,
    )
  if (apiKeyFile !== undefined)
    throw createUselessFlagError(
      'api-key-file',
      why,
      'Leave it out: other providers have variables of their own for the key',
    )
}

function createUselessFlagError(flag: string, why: string, fix: string): ToolError {
  return new ToolError('INVALID_INPUT', `--${flag} ${why}`, { field: flag, suggestion: fix })
}

/**
 * Loads and renders the prompt once, so that params that do not fit are reported before a run
 * begins.
 * Throws what keeps it from being rendered.
 */
async function requireRenderablePrompt(
  path: string,
  params: AgentSettings['params'],
  cwd: string,
): Promise<void> {
  const prompt = await loadPrompt(path, cwd)
  const state = createState()
  try {
    await prompt.render(params as never, { state })
  } catch (error) {
    if (!ToolError.is(error) || error.field === undefined) throw error
    const { message, field, details } = error
    throw new ToolError('INVALID_INPUT', message, {
      field: 'params',
      cause: error,
      details: { ...details, param: field },
      suggestion: `Give the params of the prompt as one JSON object: --params '{"name": "value"}'`,
    })
  } finally {
    await state.close()
  }
}

/**
 * The outcome of a run of an agent: its own, unless the runner ended it before.
 */
async function toAgentOutcome(
  paths: RunPaths,
  request: RunRequest,
  ending: AttemptOutcome,
  outcome: Outcome | undefined,
): Promise<Outcome> {
  if (outcome?.ok && ending.state === 'completed')
    return { ...outcome, result: { ...(outcome.result as object), run_id: paths.id } }
  const isCancelled = ending.state === 'cancelled'
  if (outcome && !outcome.ok && isCancelled === (outcome.error.code === 'CANCELLED')) return outcome
  const { error } = await readRunSummary(paths, request)
  const { code, message, recoverable, retryable, category } = new ToolError(
    error?.code ?? 'INTERNAL',
    error?.message ?? 'the run failed',
  ).toObject()
  const suggestion = {
    action: 'retry_with_modified_input' as const,
    fix: error?.hint ?? '',
    applicability: 'maybe_incorrect' as const,
  }
  return {
    ok: false,
    status: 'error',
    error: {
      ...{ code, category, message, recoverable, retryable },
      ...compact({ suggestion: error?.hint === undefined ? undefined : suggestion }),
    },
    meta: { tool: AGENT_TOOL, duration_ms: 0 },
  }
}

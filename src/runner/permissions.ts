/**
 * What a run may do: the sandbox level, grants and limits that its manifest and the policies allow,
 * and the environment its tool gets.
 */

import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { ChildOptions, ToolProfile } from '../process/child.ts'
import type { HostEnv } from '../process/environment.ts'
import { buildCallEnv, buildSandboxEnv, pickCertificateVariables } from '../process/environment.ts'
import type { IsolationLevel, PathGrant, ResourceLimits } from '../process/grants.ts'
import { loadPolicies } from '../process/load-policies.ts'
import { readGrants } from '../process/permissions.ts'
import { checkPolicy, checkUnconfined, decideLevel, isAtLeast } from '../process/policy-check.ts'
import type { Policy } from '../process/policy.ts'
import { listCodeFolders } from '../process/programs.ts'
import type { ChildCall } from '../registry/child/child-call.ts'
import { collectOwnVariables, expandValues } from '../registry/source.ts'
import { detectCapabilities } from '../sandbox/capabilities.ts'
import { compact } from '../util/values.ts'
import type { RunRequest } from './request.ts'
import type { RunPaths } from './run-paths.ts'

/** What a run may do, and how that is enforced. */
export type RunPermissions = {
  readonly level: IsolationLevel
  /** Whether it is bound to what it asks for; otherwise it has its caller's rights. */
  readonly isConfined: boolean
  /** The level that it needs, where the caller has accepted less. */
  readonly requiredLevel: IsolationLevel | undefined
  /** For people who read the record. */
  readonly description: string
  /** Who holds its memory down; undefined where nobody does. */
  readonly memoryLimiter: 'cgroup' | 'watchdog' | undefined
  readonly limits: ResourceLimits
  readonly policy: Policy
  /** Where its artifacts may lie besides its workspace. */
  readonly writablePaths: readonly PathGrant[]
  /** Names of the secrets that it may have; undefined: any. */
  readonly secrets: readonly string[] | undefined
  /** Where its manifest says that they lie. */
  readonly secretFiles: { readonly [name: string]: string }
  environment(more: { readonly [name: string]: string }): { readonly [name: string]: string }
  sandbox(
    shown: Pick<ToolProfile, 'readable' | 'files'> & Required<Pick<ToolProfile, 'onConnection'>>,
  ): Pick<ChildOptions, 'sandbox'>
}

const NO_PATHS: readonly PathGrant[] = []
/** For a program that nobody gave a time: a year. */
const DEFAULT_DEADLINE_SECONDS = 365 * 86_400

/**
 * Decides the level of a run and what it may do there, by its manifest and all policies. Throws
 * PERMISSION, CONFIG or SANDBOX_UNAVAILABLE.
 */
export async function resolveRunPermissions(
  paths: RunPaths,
  request: RunRequest,
  env: HostEnv,
): Promise<RunPermissions> {
  const { call, tool, permissions, manifest, cwd } = request
  const { workspace } = paths
  const policy = await loadPolicies(cwd, env)
  const abilities = call
    ? await detectCapabilities(env)
    : { level: 'L1' as const, problem: undefined, details: undefined }
  const needs = permissions ? 'L3' : 'L1'
  // A command of our own is no tool of anybody: the policy speaks about what it calls.
  const isOurs = request.command !== undefined && request.orchestrator === true
  const level = isOurs
    ? 'L1'
    : await decideLevel({
        tool,
        needs,
        offered: abilities.level,
        problem: abilities.problem,
        allow: request.allow_level,
        policy,
      })
  const isBound = permissions !== undefined || level !== 'L1'
  if (!isBound && !isOurs) await checkUnconfined(policy, tool)
  const asked = await readGrants({ permissions, file: manifest }, { workspace, cwd })
  const grants = isBound
    ? await checkPolicy(asked, policy, compact({ tool, file: manifest }))
    : asked
  const limits = grants.limits
  const network = grants.network !== 'none'
  const isMemoryLimited = call !== undefined && limits.memoryMb !== undefined
  const sandboxLimiter = level === 'L1' ? 'watchdog' : abilities.details?.memory
  return {
    level,
    isConfined: isBound,
    requiredLevel: isAtLeast(level, needs) ? undefined : needs,
    description: describePermissions(request, level, isBound),
    memoryLimiter: isMemoryLimited ? sandboxLimiter : undefined,
    limits,
    policy,
    writablePaths: isBound ? grants.write : NO_PATHS,
    secrets: isBound ? grants.secrets : undefined,
    secretFiles: grants.secretFiles ?? {},
    environment: (more) => ({
      ...createToolEnvironment(call ?? {}, {
        hostEnv: env,
        runId: request.run_id,
        traceId: request.trace_id,
        traceparent: request.traceparent,
        workspace,
        logDir: paths.toolLogs,
        cancelFile: paths.toolCancel,
        deadline: Date.now() + (request.timeout_s ?? DEFAULT_DEADLINE_SECONDS) * 1000,
        idempotencyKey: request.idempotency_key,
        ...compact({ confined: isBound ? { network } : undefined }),
      }),
      ...more,
    }),
    sandbox: ({ readable, files, onConnection }) =>
      level === 'L1'
        ? {}
        : {
            sandbox: {
              grants,
              workspace,
              onConnection,
              searchPath: env['PATH'],
              readable: [
                ...listCodeFolders(call!.command),
                paths.control,
                ...readable,
                ...Object.values(network ? pickCertificateVariables(env) : {}).filter((file) =>
                  existsSync(file),
                ),
              ],
              // Records of runs are nobody's business, also where a grant contains them.
              hidden: [dirname(paths.folder)],
              ...compact({ files }),
            },
          },
  }
}

function describePermissions(
  { orchestrator }: RunRequest,
  level: IsolationLevel,
  isBound: boolean,
): string {
  if (!isBound)
    return `with its caller's rights: ${orchestrator ? 'it starts other tools, which have their own' : 'nobody has said what it may do'}`
  return level === 'L1'
    ? 'as it asks, without a sandbox: its files and its network are not confined'
    : 'only what it asks for'
}

/** What a run tells its tool, and where the rest comes from. */
type ToolEnvironmentOptions = {
  readonly hostEnv: HostEnv
  readonly runId: string
  readonly traceId: string
  readonly traceparent?: string | undefined
  readonly workspace: string
  readonly logDir: string
  readonly cancelFile: string
  /** When the tool is ended, wall clock in milliseconds. */
  readonly deadline?: number | undefined
  readonly idempotencyKey: string
  /**
   * In a sandbox: no home, no proxies; `network` says whether it reaches any server. Absent: with
   * the rights of its caller.
   */
  readonly confined?: { readonly network: boolean } | undefined
}

/** The last moment that a date can name. */
const MAX_DATE_MS = 8.64e15

/**
 * The whole environment of a tool: the base allow-list, what it requires by name, what its
 * configuration gives, and what the run says, which wins. `RUN_STDOUT` is added where the tool is
 * started (`stdoutVariable`). Throws CONFIG for what is required and missing.
 */
export function createToolEnvironment(
  call: Pick<ChildCall, 'env' | 'requireEnv'>,
  run: ToolEnvironmentOptions,
): { [name: string]: string } {
  const { hostEnv, confined, deadline } = run
  const base = confined ? buildSandboxEnv(hostEnv, run.workspace) : buildCallEnv(hostEnv)
  const own = compact({
    RUN_ID: run.runId,
    TRACE_ID: run.traceId,
    TRACEPARENT: run.traceparent,
    WORKSPACE: run.workspace,
    LOG_DIR: run.logDir,
    CANCEL_FILE: run.cancelFile,
    AI_PROTOCOL_VERSION: '1',
    IDEMPOTENCY_KEY: run.idempotencyKey,
    DEADLINE_TS:
      deadline === undefined ? undefined : new Date(Math.min(deadline, MAX_DATE_MS)).toISOString(),
  })
  return {
    ...base,
    ...(confined?.network ? pickCertificateVariables(hostEnv) : undefined),
    ...compact({ TOOL_DEBUG: hostEnv['TOOL_DEBUG'] }),
    // Expanded here and not before: the request is written to disk and must hold no secrets.
    ...collectOwnVariables(
      { ...call, env: expandValues(call.env, hostEnv, 'the tool') },
      { env: hostEnv },
    ),
    ...own,
  }
}

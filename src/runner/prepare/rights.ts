import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { certificateVariables } from '../../process/base-environment.ts'
import type { Environment } from '../../process/base-environment.ts'
import type { ChildOptions } from '../../process/child-type.ts'
import type { Level, Limits, PlaceGrant } from '../../process/permissions/grants.ts'
import { readGrants } from '../../process/permissions/read-grants.ts'
import { checkPolicy, checkUnconfined } from '../../process/policy/check-policy.ts'
import { decideLevel, isAtLeast } from '../../process/policy/decide-level.ts'
import { loadPolicies } from '../../process/policy/load-policies.ts'
import type { Policy } from '../../process/policy/policy.ts'
import { findAbilities } from '../../process/sandbox/abilities.ts'
import { codeFolders } from '../../process/sandbox/code-folders.ts'
import type { ToolProfile } from '../../process/sandbox/profile.ts'
import type { RunPaths } from '../folder/run-paths.ts'
import { toolEnvironment } from '../inputs/environment.ts'
import type { RunRequest } from '../run-request.ts'

/** What a run may do, and how that is enforced. */
export type Rights = {
  readonly level: Level
  /** Whether it is bound to what it asks for; otherwise it has its caller's rights. */
  readonly isBound: boolean
  /** The level that it needs, where the caller has accepted less. */
  readonly needed: Level | undefined
  /** For people who read the record. */
  readonly words: string
  /** Who holds its memory down; undefined where nobody does. */
  readonly memoryHolder: 'cgroup' | 'watchdog' | undefined
  readonly limits: Limits
  readonly policy: Policy
  /** Where its artifacts may lie besides its workspace. */
  readonly places: readonly PlaceGrant[]
  /** Names of the secrets that it may have; undefined: any. */
  readonly secrets: readonly string[] | undefined
  /** Where its manifest says that they lie. */
  readonly secretFiles: { readonly [name: string]: string }
  environment(more: { readonly [name: string]: string }): { readonly [name: string]: string }
  sandbox(
    shown: Pick<ToolProfile, 'readable' | 'files'> & Required<Pick<ToolProfile, 'onConnection'>>,
  ): Pick<ChildOptions, 'sandbox'>
}

const NOTHING: readonly PlaceGrant[] = []
/** For a program that nobody gave a time: a year. */
const LONGEST_S = 365 * 86_400

/** Decides the level of a run and what it may do there, by its manifest and all policies. Throws PERMISSION, CONFIG or SANDBOX_UNAVAILABLE. */
export async function prepareRights(
  paths: RunPaths,
  request: RunRequest,
  env: Environment,
): Promise<Rights> {
  const { call, tool, permissions, manifest, cwd } = request
  const { workspace } = paths
  const policy = await loadPolicies(cwd, env)
  const abilities = call
    ? await findAbilities(env)
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
    ? await checkPolicy(asked, policy, { tool, ...(manifest !== undefined && { file: manifest }) })
    : asked
  const limits = grants.limits
  const network = grants.network !== 'none'
  return {
    level,
    isBound,
    needed: isAtLeast(level, needs) ? undefined : needs,
    words: !isBound
      ? `with its caller's rights: ${request.orchestrator ? 'it starts other tools, which have their own' : 'nobody has said what it may do'}`
      : level === 'L1'
        ? 'as it asks, without a sandbox: its files and its network are not confined'
        : 'only what it asks for',
    memoryHolder:
      call === undefined || limits.memoryMb === undefined
        ? undefined
        : level === 'L1'
          ? 'watchdog'
          : abilities.details?.memory,
    limits,
    policy,
    places: isBound ? grants.write : NOTHING,
    secrets: isBound ? grants.secrets : undefined,
    secretFiles: grants.secretFiles ?? {},
    environment: (more) => ({
      ...toolEnvironment(call ?? {}, {
        hostEnv: env,
        runId: request.run_id,
        traceId: request.trace_id,
        traceparent: request.traceparent,
        workspace,
        logDir: paths.toolLogs,
        cancelFile: paths.toolCancel,
        deadline: Date.now() + (request.timeout_s ?? LONGEST_S) * 1000,
        idempotencyKey: request.idempotency_key,
        ...(isBound && { confined: { network } }),
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
                ...codeFolders(call!.command),
                paths.control,
                ...readable,
                ...Object.values(network ? certificateVariables(env) : {}).filter((file) =>
                  existsSync(file),
                ),
              ],
              // Records of runs are nobody's business, also where a grant contains them.
              hidden: [dirname(paths.folder)],
              ...(files && { files }),
            },
          },
  }
}

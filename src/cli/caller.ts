/**
 * Detects who runs the program from environment variables: a named agent, a known agent, a CI
 * system, or a person.
 */

type CallerEnv = { readonly [name: string]: string | undefined }

/** Who runs this program, according to the environment. */
export type Caller = { readonly name: string; readonly kind: 'agent' | 'ci' }

// Variables that say who it is; any value counts as the name.
const CALLER_NAME_VARIABLES = ['TOOLABLE_CALLER', 'TOOLI_CALLER', 'AI_AGENT', 'AGENT'] as const
// Variables whose mere presence gives an agent away.
const AGENT_MARKERS: readonly (readonly [variable: string, name: string])[] = [
  ['CLAUDECODE', 'claude-code'],
  ['CLAUDE_CODE_ENTRYPOINT', 'claude-code'],
  ['CURSOR_AGENT', 'cursor'],
  ['CODEX_SANDBOX', 'codex'],
  ['CODEX_CI', 'codex'],
  ['GEMINI_CLI', 'gemini-cli'],
  ['OPENCODE', 'opencode'],
  ['OPENCODE_CLIENT', 'opencode'],
  ['AUGMENT_AGENT', 'augment'],
  ['GOOSE_TERMINAL', 'goose'],
]
/** The variables by which a program finds out that an agent runs it. */
export const AGENT_VARIABLES: readonly string[] = [
  ...CALLER_NAME_VARIABLES,
  ...AGENT_MARKERS.map(([variable]) => variable),
]
const CI_SYSTEMS: readonly (readonly [variable: string, name: string])[] = [
  ['GITHUB_ACTIONS', 'github-actions'],
  ['GITLAB_CI', 'gitlab-ci'],
  ['BUILDKITE', 'buildkite'],
  ['JENKINS_URL', 'jenkins'],
  ['CI', 'ci'],
]

/**
 * Finds the caller: a declared name first, then known agents, then CI systems; undefined for a
 * person.
 */
export function detectCaller(env: CallerEnv): Caller | undefined {
  for (const variable of CALLER_NAME_VARIABLES) {
    const name = env[variable]?.trim()
    if (name && isSet(name)) return { name: name.slice(0, 100), kind: 'agent' }
  }
  const agent = AGENT_MARKERS.find(([variable]) => isSet(env[variable]))
  if (agent) return { name: agent[1], kind: 'agent' }
  const system = CI_SYSTEMS.find(([variable]) => isSet(env[variable]))
  return system && { name: system[1], kind: 'ci' }
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && !['', '0', 'false', 'no'].includes(value.trim().toLowerCase())
}

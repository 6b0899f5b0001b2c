import type { Guard, Rules } from '../contract/guard.ts'
import type { State } from '../contract/state.ts'
import type { ToolDefinition } from '../define/tool-type.ts'
import { readGuards } from './guards/read-guards.ts'
import type { ServedCallOptions } from './options.ts'

/** The rules of a toolset or registry; undefined where it has none. Throws CONFIG for what is no guard. */
export function readRules({
  guards,
  state,
}: {
  readonly guards?: readonly Guard[]
  readonly state?: State
}): Rules | undefined {
  return guards === undefined && state === undefined
    ? undefined
    : { guards: readGuards(guards ?? []), ...(state && { state }) }
}

/** The same tool under rules, which stay with it wherever it is mounted and whatever it is called there. Rules around come before those inside, and so does their state. */
export function withRules(definition: ToolDefinition, rules: Rules): ToolDefinition {
  return {
    ...definition,
    rules: definition.rules
      ? { ...definition.rules, ...rules, guards: [...rules.guards, ...definition.rules.guards] }
      : rules,
    renamed: (name) => withRules(definition.renamed(name), rules),
  }
}

/** How a call is made under rules: their guards come first, and the caller cannot take them away. */
export function underRules(
  { rules }: ToolDefinition,
  options: ServedCallOptions,
): ServedCallOptions {
  if (!rules) return options
  const { guards = [] } = options
  return {
    ...(rules.state && { state: rules.state }),
    ...options,
    guards: Array.isArray(guards) ? [...rules.guards, ...(guards as readonly Guard[])] : guards,
  }
}

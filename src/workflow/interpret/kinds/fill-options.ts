import type { InteractionOption } from '../../../contract/interaction.ts'
import { fill, textOf } from '../../expressions/fill.ts'
import type { Scope } from '../../expressions/scope-type.ts'

/** The choices of a question with their values put in; each part of a choice is a text. */
export function fillOptions(
  options: readonly InteractionOption[],
  scope: Scope,
): readonly InteractionOption[] {
  return options.map(
    (option) =>
      Object.fromEntries(
        Object.entries(option).map(([key, text]) => [key, textOf(fill(text, scope))]),
      ) as InteractionOption,
  )
}

import { closest } from '../contract/did-you-mean.ts'
import { isObject } from '../contract/json.ts'
import { ToolError } from '../contract/tool-error.ts'

/** Values that may follow what somebody typed for one argument; `others` are the arguments that stand already. */
export type Completer = (
  value: string,
  others: { readonly [name: string]: string },
) => readonly string[] | Promise<readonly string[]>

/** Completers by the name of the argument. */
export type Completers<Name extends string = string> = { readonly [Argument in Name]?: Completer }

/** Refuses completers that could never be asked; `names` is undefined where they are not known yet. Throws CONFIG. */
export function checkCompleters(
  what: string,
  given: unknown,
  names: readonly string[] | undefined,
): void {
  if (!isObject(given))
    throw new ToolError(
      'CONFIG',
      `'complete' of ${what} must be an object of functions, one for each argument`,
    )
  for (const [name, completer] of Object.entries(given)) {
    if (typeof completer !== 'function')
      throw new ToolError(
        'CONFIG',
        `'complete.${name}' of ${what} must be a function: (value, others) => [...]`,
      )
    if (!names || names.includes(name)) continue
    const meant = closest(name, names)
    throw new ToolError(
      'CONFIG',
      `'complete.${name}' of ${what} completes an argument that does not exist${meant ? `; did you mean '${meant}'?` : names.length > 0 ? `; the arguments are ${names.join(', ')}` : ''}`,
    )
  }
}

/** Asks the author's completer for an argument; undefined when there is none. Throws INTERNAL when it does not give texts. */
export async function askCompleter(
  what: string,
  completers: Completers | undefined,
  name: string,
  value: string,
  others: { readonly [name: string]: string },
): Promise<readonly string[] | undefined> {
  const completer = completers && Object.hasOwn(completers, name) ? completers[name] : undefined
  if (!completer) return undefined
  const found: unknown = await completer(value, others)
  if (Array.isArray(found) && found.every((text) => typeof text === 'string')) return found
  throw new ToolError('INTERNAL', `'complete.${name}' of ${what} must give a list of texts`)
}

import { pathToFileURL } from 'node:url'
import type { Context } from '../contract/context.ts'
import type { Root } from '../contract/interaction.ts'
import { isObject } from '../contract/json.ts'
import { ToolError } from '../contract/tool-error.ts'
import type { AskHost } from './ask-host.ts'
import { asHost } from './exit-guard.ts'
import { checkKey } from './question-key.ts'

/** Builds `ctx.roots`: asks the caller, and gives the working folder where nobody can be asked. */
export function createRoots({ roots, cwd, signal, wait, inOrder }: AskHost): Context['roots'] {
  return async (options = {}) => {
    const request = await inOrder(() => checkKey(options.key))
    if (!roots) return [{ uri: pathToFileURL(cwd).href }]
    return wait(async () => readRoots(await asHost(() => roots(request, signal()))))
  }
}

function readRoots(given: unknown): readonly Root[] {
  if (
    Array.isArray(given) &&
    given.every(
      (root) =>
        isObject(root) &&
        typeof root['uri'] === 'string' &&
        ['string', 'undefined'].includes(typeof root['name']),
    )
  )
    return given as readonly Root[]
  throw new ToolError('DEPENDENCY', 'the roots that came back are no list of { uri, name }')
}

import { isObject } from '../../../contract/json.ts'
import { RPC, RpcError } from '../wire/messages.ts'
import type { Question } from './question.ts'

/** The question which folders the client works in. */
export function listRoots(key: string | undefined): Question {
  return {
    capability: 'roots',
    key,
    method: 'roots/list',
    params: {},
    read(answer) {
      const roots = isObject(answer) ? answer['roots'] : undefined
      if (!Array.isArray(roots))
        throw new RpcError(RPC.invalidParams, 'the answer to roots/list needs a list of roots')
      return roots.flatMap((root: unknown) =>
        isObject(root) && typeof root['uri'] === 'string'
          ? [{ uri: root['uri'], ...(typeof root['name'] === 'string' && { name: root['name'] }) }]
          : [],
      )
    },
  }
}

import type { Filesystem } from '../../contract/filesystem.ts'
import type { Transactional, TransactionPart } from '../../contract/state.ts'
import { ToolError } from '../../contract/tool-error.ts'

const METHODS = [
  'stat',
  'readText',
  'readBytes',
  'readLines',
  'write',
  'append',
  'remove',
  'move',
  'makeFolder',
  'list',
  'glob',
  'grep',
] as const satisfies readonly (keyof Filesystem)[]

/** Files whose code is loaded when a call first looks at them. */
export function openLate<Opened extends Transactional<Filesystem>>(
  load: () => Promise<Opened>,
): {
  begin: Transactional<Filesystem>['begin']
  /** Undefined until then. */ opened(): Opened | undefined
} {
  let opened: Opened | undefined
  let opening: Promise<Opened> | undefined
  return {
    opened: () => opened,
    begin(options) {
      if (opened) return opened.begin(options)
      return lateBegin(async () => {
        try {
          opened = await (opening ??= load())
        } catch (error) {
          // The next call may find what was missing.
          opening = undefined
          throw error
        }
        return opened.begin(options)
      })
    },
  }
}

function lateBegin(begin: () => Promise<TransactionPart<Filesystem>>): TransactionPart<Filesystem> {
  let part: Promise<TransactionPart<Filesystem>> | undefined
  let isOver = false
  const use =
    (method: (typeof METHODS)[number]) =>
    async (...given: never[]): Promise<unknown> => {
      if (isOver && !part)
        throw new ToolError('CANCELLED', 'the call that files were wanted for is over', {
          suggestion: 'Wait for everything that a handler starts before it returns',
        })
      const { view } = await (part ??= begin())
      return (view[method] as (...input: never[]) => Promise<unknown>)(...given)
    }
  // What could not be opened changed nothing.
  const begun = async (): Promise<TransactionPart<Filesystem> | undefined> => {
    isOver = true
    return part?.catch(() => undefined)
  }
  return {
    view: Object.fromEntries(
      METHODS.map((method) => [method, use(method)]),
    ) as unknown as Filesystem,
    commit: async () => (await begun())?.commit(),
    rollback: async () => (await begun())?.rollback(),
    end: async () => (await begun())?.end?.(),
    begin: (options) => lateBegin(async () => (await (part ??= begin())).begin(options)),
  }
}

import { existsSync, readFileSync } from 'node:fs'
import { ToolError } from '../../../contract/tool-error.ts'

const FILES = { python: 'emitters/python/toolable.py', sh: 'emitters/sh/toolable.sh' } as const
/** From the built files, and from the sources. */
const ABOVE = ['../', '../../', '../../../', '../../../../']

/** The helper of a language, as the package brings it. */
export function readEmitter(language: keyof typeof FILES): string {
  const file = ABOVE.map((above) => new URL(`${above}${FILES[language]}`, import.meta.url)).find(
    (url) => existsSync(url),
  )
  if (!file)
    throw new ToolError('INTERNAL', `the package misses its file ${FILES[language]}`, {
      suggestion: 'npm install toolable',
    })
  return readFileSync(file, 'utf8')
}

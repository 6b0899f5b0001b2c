import { basename, dirname } from 'node:path'
import { noTools, openModule } from '../functions/open-module.ts'
import { nameOf, nearestPackage } from './names.ts'

/** The module that starts a program whose entry runs or exports its tools. */
export function startOfEntry(entry: string): string {
  const facts = nearestPackage(dirname(entry))
  return `import*as entry from${JSON.stringify(entry)};import{startEntry}from'toolable/built';await startEntry(entry,${writeNames(nameOf(entry, facts), facts.version)})`
}

/** The module that starts a program of plain functions: what was read of their types stands in it, and the entry itself is loaded by the first call. Throws CONFIG, with the reason for each export, where none can be a tool. */
export async function startOfFunctions(
  entry: string,
  {
    cwd,
    env,
  }: { readonly cwd: string; readonly env: { readonly [name: string]: string | undefined } },
): Promise<string> {
  const opened = await openModule(entry, { cwd, env })
  const { functions, description, name, version } = opened.manifest
  if (functions.length === 0) throw noTools(opened)
  // Where the sources lie on this machine is nothing for others.
  const manifest = {
    ...(description !== undefined && { description }),
    functions: functions.map((each) => ({ ...each, file: basename(each.file) })),
  }
  return `import{startFunctions}from'toolable/built';await startFunctions(${JSON.stringify(manifest)},${writeNames(name, version)},()=>import(${JSON.stringify(entry)}))`
}

function writeNames(name: string, version: string | undefined): string {
  return JSON.stringify({ name, ...(version !== undefined && { version }) })
}

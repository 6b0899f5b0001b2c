import { basename, extname } from 'node:path'
import { isObject } from '../../../contract/json.ts'
import { SIMPLE_PROBE } from '../../../surfaces/json/simple-probe.ts'
import type { Asking } from './ask.ts'
import { documentOf } from './parse-document.ts'
import { readTools } from './read-tools.ts'
import type { DescribedTool, Ran, Speech, Subject } from './subject.ts'

type Found = {
  readonly speech: Speech
  readonly discovery: Ran
  readonly tools: readonly DescribedTool[]
}

/** Finds out how a program tells what it is: the richest form first. */
export async function look(path: string, asking: Asking, mayCall: boolean): Promise<Subject> {
  const name = basename(path, extname(path)).replace(/[^A-Za-z0-9_-]+/g, '_')
  const found = (await discover(asking, name)) ??
    (await dump(asking, name)) ??
    (await simple(asking, name)) ?? {
      speech: 'nothing',
      discovery: await asking.ask(['--discover']),
      tools: [],
    }
  return { path, ...asking, ...found, mayCall }
}

async function discover({ ask }: Asking, name: string): Promise<Found | undefined> {
  const discovery = await ask(['--discover'])
  const document = documentOf(discovery)?.value
  if (discovery.status !== 0 || !isObject(document) || !Array.isArray(document['tools']))
    return undefined
  const short = readTools(document, name)
  const rich = await readRich(ask, name)
  // Discovery has the summaries and the schema everything else.
  const tools = short.map((tool) => {
    const more = rich.find((other) => other.name === tool.name)
    return more ? { ...more, summary: tool.summary } : tool
  })
  return { speech: 'discover', discovery, tools }
}

// Either of them has the schemas.
async function readRich(ask: Asking['ask'], name: string): Promise<readonly DescribedTool[]> {
  for (const flag of ['--schema', '--manifest']) {
    const ran = await ask([flag])
    const tools = ran.status === 0 ? readTools(documentOf(ran)?.value, name) : []
    if (tools.some(({ inputSchema }) => inputSchema)) return tools
  }
  return []
}

async function dump({ ask }: Asking, name: string): Promise<Found | undefined> {
  for (const [flag, speech] of [
    ['--fractalic-dump-multi-schema', 'multi-dump'],
    ['--fractalic-dump-schema', 'dump'],
  ] as const) {
    const discovery = await ask([flag])
    const tools =
      discovery.status === 0
        ? readTools(documentOf(discovery)?.value, name).filter(({ inputSchema }) => inputSchema)
        : []
    if (tools.length > 0) return { speech, discovery, tools }
  }
  return undefined
}

async function simple({ ask }: Asking, name: string): Promise<Found | undefined> {
  const discovery = await ask([SIMPLE_PROBE])
  const document = documentOf(discovery)?.value
  if (discovery.status !== 0 || !isObject(document) || document['_simple'] !== true)
    return undefined
  return {
    speech: 'simple',
    discovery,
    tools: [{ name, summary: '', description: '', annotations: {}, examples: [] }],
  }
}

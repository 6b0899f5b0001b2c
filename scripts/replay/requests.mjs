// Reads the files of requests. A file is a list of groups, and a group becomes one or more flows:
// lists of steps that share a folder.
//
//   requests: [...]                       each in its own copy of the folder; `title` comes first
//                                         in the title of each
//   flow: <name>, steps: [...]            one after another in one folder
//   session: <name>, start, messages      an MCP server on stdio, and what it is sent
//   server: <name>, start, requests       an HTTP server, and what it is asked
import { readFileSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parse } from 'yaml'

/** All flows of all areas, in the order of the files. */
export function readFlows(folder) {
  const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'))
  return files.sort().flatMap((file) => {
    const groups = parse(readFileSync(join(folder, file), 'utf8'))
    return groups.flatMap((group) => makeFlows(basename(file, '.yaml'), group))
  })
}

function makeFlows(area, group) {
  const common = { area, folder: group.folder ?? 'empty', env: group.env ?? {} }
  if (group.flow !== undefined) return [{ ...common, name: group.flow, steps: group.steps }]
  if (group.session !== undefined)
    return [{ ...common, name: group.session, steps: sessionSteps(group) }]
  if (group.server !== undefined)
    return [{ ...common, name: group.server, steps: serverSteps(group) }]
  return group.requests.map((request) => {
    const step = typeof request === 'string' ? { run: request } : request
    return { ...common, prefix: group.title, steps: [step] }
  })
}

function sessionSteps({ start, messages, era, capabilities, stop }) {
  const sent = messages.map((message) => ({
    send: typeof message === 'string' ? { raw: message } : message,
    era,
    capabilities,
  }))
  return [{ start, kind: 'stdio' }, ...sent, { stop: stop ?? 'input' }]
}

function serverSteps({ start, requests, headers, stop }) {
  const asked = requests.map((request) => {
    const step = typeof request === 'string' ? { request } : request
    return { ...step, headers: { ...headers, ...step.headers } }
  })
  return [{ start, kind: 'http' }, ...asked, { stop: stop ?? 'SIGTERM' }]
}

// The table of agents in docs/installing-into-agents.md, from what a program says about them.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const PROGRAM = resolve('examples/hello/hello.mjs')

/** One row for each agent: its files in the project and at home, and its folders of skills. */
export function agentTable() {
  const folder = mkdtempSync(join(tmpdir(), 'toolable-agents-'))
  const home = join(folder, 'home')
  const list = (command) =>
    JSON.parse(
      execFileSync(process.execPath, [PROGRAM, command, 'list', '--json'], {
        cwd: folder,
        env: { HOME: home, PATH: '' },
        encoding: 'utf8',
      }),
    ).result
  const shorten = (path) => path.replace(home, '~').replace(`${folder}/`, '')
  const code = (path) => (path === undefined ? '' : `\`${shorten(path)}\``)
  try {
    const servers = list('mcp')
    const skills = list('skills')
    const find = (rows, agent, scope) =>
      rows.find((row) => row.agent === agent && row.scope === scope)
    const rows = [...new Set(skills.map(({ agent }) => agent))].map((agent) => [
      `\`${agent}\``,
      code(find(servers, agent, 'project')?.file),
      code(find(servers, agent, 'user')?.file),
      ['project', 'user']
        .map((scope) => code(find(skills, agent, scope).folder.replace(/\/[^/]+$/, '')))
        .join(', '),
    ])
    const head = ['agent', 'project', 'user', 'skills']
    return [head, head.map(() => '---'), ...rows]
      .map((cells) => `| ${cells.join(' | ')} |`)
      .join('\n')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

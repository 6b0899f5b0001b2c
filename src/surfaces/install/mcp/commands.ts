import type { Context } from '../../../contract/context.ts'
import { tool } from '../../../call/tool.ts'
import type { Builtin, BuiltinModule } from '../../builtin/builtin.ts'
import type { Servable } from '../../../call/servable.ts'
import type { Scope } from '../agents/agent.ts'
import { chooseAgents } from '../agents/choose.ts'
import { FIELDS, objectOf } from '../fields.ts'
import { doAll, report, reportRemoval, together } from '../report.ts'
import type { Done } from '../report.ts'
import { addSkills, dropSkills } from '../skills/commands.ts'
import { surroundingsOf } from '../surroundings.ts'
import { addServer } from './add.ts'
import { listServers } from './list.ts'
import { placesOf, SERVER_AGENTS } from './places.ts'
import type { Place } from './places.ts'
import { removeServers } from './remove.ts'
import { serverFrom } from './server.ts'
import type { ServerInput } from './server.ts'
import { startCommand } from './start-command.ts'

type Choice = {
  readonly scope: Scope
  readonly agent?: readonly string[]
  readonly name?: string
  readonly force: boolean
}

const nothing: Done = { rows: [], errors: [] }
const AGENT_NAMES = SERVER_AGENTS.map(({ name }) => name)
const ofPlace = ({ agent, file }: Place) => ({ target: file, details: { agents: [agent.name] } })

/** `mcp add`, `mcp remove` and `mcp list`: the program as an MCP server in the configuration of agents. */
export const serverCommands: BuiltinModule = (set, host): readonly Builtin[] => {
  const add = tool({
    name: 'mcp_add',
    summary: 'Install this program as an MCP server into the agents on this machine',
    description:
      'Writes one entry into the configuration of each agent and marks it. What others wrote stays as it is; an entry of the same name that is not ours is a conflict.',
    input: objectOf({
      scope: FIELDS.scope,
      agent: FIELDS.agents(AGENT_NAMES),
      name: FIELDS.name(set.name),
      transport: {
        type: 'string',
        enum: ['stdio', 'http'],
        description:
          'stdio: the agent starts the program; http: it runs at --url. Default: http when there is a --url',
      },
      url: { type: 'string', description: 'Where the program is served over HTTP' },
      command: {
        type: 'string',
        minLength: 1,
        description: 'The program that the agent starts; default: as this one was started',
      },
      arg: {
        type: 'array',
        items: { type: 'string' },
        description: 'An argument before --serve-mcp stdio; may be repeated',
      },
      env: {
        type: 'array',
        items: { type: 'string' },
        description: 'NAME=value for the environment of the server; may be repeated',
      },
      force: {
        type: 'boolean',
        default: false,
        description: 'Replace an entry that somebody else wrote or changed',
      },
    }),
    annotations: { idempotent: true },
    dryRun: true,
    examples: [
      { description: 'See what would be written', args: ['--dry-run'] },
      {
        description: 'For every project of yours, in one agent',
        args: ['--scope', 'user', '--agent', 'codex'],
      },
      {
        description: 'In a form that works for a whole team',
        args: ['--command', 'npx', '--arg', '-y', '--arg', set.name],
      },
      { description: 'A server that runs already', args: ['--url', 'http://127.0.0.1:8080/mcp'] },
    ],
    async run(input, ctx) {
      const { scope, agent, name = set.name, force, ...wishes } = input as Choice & ServerInput
      const here = surroundingsOf(ctx)
      const server = serverFrom(wishes, startCommand(host.started, set.name, scope, here))
      const places = await placesOf(chooseAgents(SERVER_AGENTS, agent, here, input), scope, here)
      const servers = await doAll(
        places,
        ofPlace,
        async (place) => [await addServer(place, { program: set.name, name, server, force }, ctx)],
        ctx.signal,
      )
      // The author wants the skill to come with it.
      const skills = set.options.skillAutoGenerate
        ? await addSkills(set, { scope, force, ...(agent && { agent }) }, ctx)
        : nothing
      return report(ctx, together(servers, skills), input)
    },
  })

  const remove = tool({
    name: 'mcp_remove',
    summary: 'Take this program out of the configuration of agents',
    description:
      'Takes out exactly what mcp add wrote; a file is left as it was before. An entry that somebody changed since stays, unless --force.',
    input: objectOf({
      scope: FIELDS.scope,
      agent: FIELDS.agents(AGENT_NAMES),
      name: {
        ...FIELDS.name(set.name),
        description: 'Only the server of this name; default: all that this program wrote',
      },
      force: {
        type: 'boolean',
        default: false,
        description: 'Also an entry that somebody changed after it was installed',
      },
    }),
    annotations: { idempotent: true },
    dryRun: true,
    examples: [{ description: 'From this project', args: [] }],
    run: async (input, ctx) => removeAll(set, input as Choice, ctx),
  })

  const list = tool({
    name: 'mcp_list',
    summary: 'List the agents and whether this program is installed in them',
    input: objectOf({
      scope: FIELDS.bothScopes,
      agent: FIELDS.agents(AGENT_NAMES),
      name: FIELDS.name(set.name),
    }),
    annotations: { readOnly: true, idempotent: true },
    examples: [{ description: 'In every agent', args: [] }],
    async run(input, ctx) {
      const { scope, agent, name } = input as Partial<Choice>
      const agents = SERVER_AGENTS.filter(
        (each) => agent === undefined || agent.includes(each.name),
      )
      return listServers(
        agents,
        scope ? [scope] : ['project', 'user'],
        set.name,
        name,
        surroundingsOf(ctx),
      )
    },
  })
  return [
    { path: ['mcp', 'add'], tool: add },
    { path: ['mcp', 'remove'], tool: remove },
    { path: ['mcp', 'list'], tool: list },
  ]
}

// Also from agents that are not found any more.
async function removeAll(set: Servable, input: Choice, ctx: Context) {
  const { scope, agent, name, force } = input
  const agents = SERVER_AGENTS.filter((each) => agent === undefined || agent.includes(each.name))
  const places = await placesOf(agents, scope, surroundingsOf(ctx))
  const servers = await doAll(
    places,
    ofPlace,
    (place) => removeServers(place, { program: set.name, name, force }, ctx),
    ctx.signal,
  )
  const skills = set.options.skillAutoGenerate ? await dropSkills(set, input, ctx) : nothing
  return reportRemoval(
    ctx,
    together(servers, skills),
    input,
    `nothing of ${set.name} is installed here`,
  )
}

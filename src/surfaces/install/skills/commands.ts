import type { Context } from '../../../contract/context.ts'
import { tool } from '../../../call/tool.ts'
import type { Builtin, BuiltinModule } from '../../builtin/builtin.ts'
import type { Servable } from '../../../call/servable.ts'
import type { Scope } from '../agents/agent.ts'
import { AGENTS } from '../agents/all.ts'
import { chooseAgents } from '../agents/choose.ts'
import { FIELDS, objectOf } from '../fields.ts'
import { doAll, report, reportRemoval } from '../report.ts'
import type { Done } from '../report.ts'
import { surroundingsOf } from '../surroundings.ts'
import { addSkill, dropSkill } from './change.ts'
import { listSkills } from './list.ts'
import { skillPlaces } from './places.ts'
import type { SkillPlace } from './places.ts'
import { skillOf } from './skill.ts'

/** Which agents, where, and whether what others wrote may go. */
export type Choice = {
  readonly scope: Scope
  readonly agent?: readonly string[]
  readonly force: boolean
}

const AGENT_NAMES = AGENTS.map(({ name }) => name)
const ofPlace = ({ folder, agents }: SkillPlace) => ({ target: folder, details: { agents } })

/** `skills add`, `skills remove` and `skills list`: a skill about the program in the folders of agents. */
export const skillCommands: BuiltinModule = (set): readonly Builtin[] => {
  const add = tool({
    name: 'skills_add',
    summary: 'Install a skill about this program into the agents on this machine',
    description:
      'Writes SKILL.md and its references into the folder of each agent, and a file that says what was written. A folder of the same name that is not ours is a conflict.',
    input: objectOf({
      scope: FIELDS.scope,
      agent: FIELDS.agents(AGENT_NAMES),
      force: {
        type: 'boolean',
        default: false,
        description: 'Replace files that somebody else wrote or changed',
      },
    }),
    annotations: { idempotent: true },
    dryRun: true,
    examples: [
      { description: 'See what would be written', args: ['--dry-run'] },
      { description: 'For every project of yours', args: ['--scope', 'user'] },
    ],
    run: async (input, ctx) => report(ctx, await addSkills(set, input as Choice, ctx), input),
  })

  const remove = tool({
    name: 'skills_remove',
    summary: 'Take the skill about this program out of the folders of agents',
    description:
      'Takes out exactly what skills add wrote. Files that somebody changed since stay, unless --force.',
    input: objectOf({
      scope: FIELDS.scope,
      agent: FIELDS.agents(AGENT_NAMES),
      force: {
        type: 'boolean',
        default: false,
        description: 'Also files that somebody changed after they were installed',
      },
    }),
    annotations: { idempotent: true },
    dryRun: true,
    examples: [{ description: 'From this project', args: [] }],
    run: async (input, ctx) =>
      reportRemoval(
        ctx,
        await dropSkills(set, input as Choice, ctx),
        input as Choice,
        `no skill of ${set.name} is installed here`,
      ),
  })

  const list = tool({
    name: 'skills_list',
    summary: 'List the agents and whether the skill about this program is installed and current',
    input: objectOf({ scope: FIELDS.bothScopes, agent: FIELDS.agents(AGENT_NAMES) }),
    annotations: { readOnly: true, idempotent: true },
    examples: [{ description: 'In every agent', args: [] }],
    async run(input, ctx) {
      const { scope, agent } = input as Partial<Choice>
      return listSkills(
        AGENTS.filter((each) => agent === undefined || agent.includes(each.name)),
        scope ? [scope] : ['project', 'user'],
        await skillOf(set),
        surroundingsOf(ctx),
      )
    },
  })
  return [
    { path: ['skills', 'add'], tool: add },
    { path: ['skills', 'remove'], tool: remove },
    { path: ['skills', 'list'], tool: list },
  ]
}

/** Writes the skill of a program into the folders of the chosen agents, or plans to. */
export async function addSkills(set: Servable, choice: Choice, ctx: Context): Promise<Done> {
  const { scope, agent, force } = choice
  const here = surroundingsOf(ctx)
  const skill = await skillOf(set)
  const places = skillPlaces(chooseAgents(AGENTS, agent, here, choice), scope, skill.name, here)
  return doAll(
    places,
    ofPlace,
    async (place) => [
      await addSkill(place, skill, { force, dryRun: ctx.dryRun, signal: ctx.signal }),
    ],
    ctx.signal,
  )
}

/** Takes the skill of a program out of the folders of agents, or plans to. */
export async function dropSkills(
  set: Servable,
  { scope, agent, force }: Choice,
  ctx: Context,
): Promise<Done> {
  const skill = await skillOf(set)
  const places = skillPlaces(
    AGENTS.filter((each) => agent === undefined || agent.includes(each.name)),
    scope,
    skill.name,
    surroundingsOf(ctx),
  )
  return doAll(
    places,
    ofPlace,
    async (place) => [
      await dropSkill(place, skill, { force, dryRun: ctx.dryRun, signal: ctx.signal }),
    ],
    ctx.signal,
  )
}

import { tool } from '../../call/tool.ts'
import type { ToolableCommand } from '../command.ts'
import type { DoctorInput } from './doctor.ts'

/** `toolable doctor`: what can this machine enforce? */
export const doctorCommand: ToolableCommand = {
  path: ['doctor'],
  tool: tool({
    name: 'doctor',
    summary: 'Say what this machine can enforce on tools, and what stands in the way of runs',
    description:
      'Tries everything instead of believing it: a sandbox from which a program tries to get out, a granted server, the folder of the runs, clock, space, configuration and policies. What is missing comes with a fix to paste. Exits 1 where something is broken, or --level is not reached.',
    input: {
      type: 'object',
      properties: {
        level: {
          type: 'string',
          enum: ['L1', 'L2', 'L3'],
          description: 'The level that has to be reached',
        },
      },
      additionalProperties: false,
    },
    annotations: { readOnly: true },
    examples: [
      { description: 'What can be enforced here?', args: [] },
      { description: 'In CI, where tools must be sandboxed', args: ['--level', 'L3'] },
    ],
    run: async (input, ctx) => (await import('./doctor.ts')).diagnose(input as DoctorInput, ctx),
  }),
  text: async () => (await import('./doctor-text.ts')).renderDiagnosis,
  exit: (result) => ((result as { readonly enough: boolean }).enough ? 0 : 1),
}

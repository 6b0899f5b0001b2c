import { Cli, z } from 'incur'

await Cli.create('greet', {
  description: 'Greet somebody',
  args: z.object({ name: z.string().describe('Whom to greet') }),
  options: z.object({
    loud: z.boolean().default(false),
    times: z.number().int().min(1).default(1),
  }),
  run: ({ args, options }) => ({
    text: (options.loud ? 'HELLO ' : 'Hello ') + args.name,
    times: options.times,
  }),
}).serve()

export { buildProgramArgv as programArguments } from '../../help/build-argv.ts'

import type { Machine } from './system-calls.ts'
import { AUDIT_NAMES, systemCallsOf } from './system-calls.ts'

const LOAD = 0x20
const IS_EQUAL = 0x15
const IS_AT_LEAST = 0x35
const HAS_BITS = 0x45
const RETURN = 0x06

const ALLOW = 0x7fff0000
const KILL = 0x80000000
const refuse = (error: number): number => 0x00050000 | error
const NOT_PERMITTED = refuse(1)
const NOT_THERE = refuse(38)
const NO_SUCH_FAMILY = refuse(97)

/** Where the number of the call, the machine and the lower halves of the arguments stand in what a filter sees. */
const NUMBER = 0
const MACHINE = 4
const argument = (index: number): number => 16 + 8 * index

/** Numbers of another way to call the kernel of x64, with which a filter could be passed by. */
const FIRST_OF_X32 = 0x40000000
const ANY_NAMESPACE = 0x7e020000
/** Words that are put into a terminal as if they were typed. */
const TERMINAL_INPUT = [0x5412, 0x541c]
const UNIX = 1
const INET = 2
const INET6 = 10
const NETLINK = 16
const ORDINARY_PERSONALITIES = [0x0, 0x8, 0x20000, 0x20008, 0xffffffff]

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number]

const load = (offset: number): Instruction => [LOAD, 0, 0, offset]
const give = (answer: number): Instruction => [RETURN, 0, 0, answer]
const when = (value: number, then: readonly Instruction[]): Instruction[] => [
  [IS_EQUAL, 0, then.length, value],
  ...then,
]

const written = new Map<Machine, Buffer>()

/** The program that a kernel runs at every call of a tool, as bubblewrap takes it with `--seccomp`: little-endian words of 8 bytes. Undefined for a machine whose numbers nobody wrote down. */
export function seccompProgram(machine: string): Buffer | undefined {
  if (machine !== 'x64' && machine !== 'arm64') return undefined
  const program = written.get(machine) ?? encode(instructionsFor(machine))
  written.set(machine, program)
  return program
}

function instructionsFor(machine: Machine): Instruction[] {
  const { forbidden, absent, asked } = systemCallsOf(machine)
  return [
    load(MACHINE),
    [IS_EQUAL, 1, 0, AUDIT_NAMES[machine]],
    give(KILL),
    load(NUMBER),
    [IS_AT_LEAST, 0, 1, FIRST_OF_X32],
    give(KILL),
    ...forbidden.flatMap((call) => when(call, [give(NOT_PERMITTED)])),
    ...absent.flatMap((call) => when(call, [give(NOT_THERE)])),
    ...when(asked.clone, [
      load(argument(0)),
      [HAS_BITS, 0, 1, ANY_NAMESPACE],
      give(NOT_PERMITTED),
      give(ALLOW),
    ]),
    ...when(asked.ioctl, [
      load(argument(1)),
      ...TERMINAL_INPUT.flatMap((request) => when(request, [give(NOT_PERMITTED)])),
      give(ALLOW),
    ]),
    ...when(asked.personality, [
      load(argument(0)),
      ...ORDINARY_PERSONALITIES.flatMap((value) => when(value, [give(ALLOW)])),
      give(NOT_PERMITTED),
    ]),
    ...when(asked.socket, [
      load(argument(0)),
      ...[UNIX, INET, INET6].flatMap((family) => when(family, [give(ALLOW)])),
      // Of netlink only the first protocol, which tells the addresses of this machine.
      ...when(NETLINK, [load(argument(2)), ...when(0, [give(ALLOW)])]),
      give(NO_SUCH_FAMILY),
    ]),
    give(ALLOW),
  ]
}

function encode(instructions: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(instructions.length * 8)
  instructions.forEach(([code, ifTrue, ifFalse, value], index) => {
    bytes.writeUInt16LE(code, index * 8)
    bytes.writeUInt8(ifTrue, index * 8 + 2)
    bytes.writeUInt8(ifFalse, index * 8 + 3)
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4)
  })
  return bytes
}

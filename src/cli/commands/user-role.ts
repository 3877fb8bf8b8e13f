import { type StoredUser, userFile } from '../../accounts/users.ts';
import { userNameFault } from '../../auth/accounts.ts';
import { isRoleName } from '../../auth/user-rights.ts';
import { type AccountCall, createAccountCommand, type GivenFlags } from '../accounts/account-command.ts';
import { changeExisting, findExisting, reportChange } from '../accounts/command.ts';
import { listUserFlags } from '../command-table.ts';
import { CommandError } from '../errors.ts';
import { printLines, type Terminal } from '../terminal.ts';

const roleFlag = '--role';

/** The options of `countersign user role`. */
interface RoleInput {
  readonly role: string;
}

type RoleCall = AccountCall<StoredUser, RoleInput>;

/** Runs `countersign user role add|remove|list NAME`. Returns the exit status. */
export const userRole = createAccountCommand<StoredUser, RoleInput>({
  accountFile: userFile,
  command: 'countersign user role',
  label: 'name',
  example: 'countersign user role add NAME --role ROLE',
  flags: listUserFlags('user role'),
  actions: {
    add: { name: 'required', run: add },
    remove: { name: 'required', run: remove },
    list: { name: 'required', run: list },
  },
  nameFault: userNameFault,
  readInput,
});

function readInput(action: string, { flags }: GivenFlags, faults: string[]): RoleInput {
  const role = String(flags.get(roleFlag) ?? '');
  if (action !== 'list' && !isRoleName(role))
    faults.push(
      flags.has(roleFlag) ? `"${role}" is not the name of a role` : `${action} requires --role ROLE`,
    );
  return { role };
}

async function add(target: RoleCall, terminal: Terminal): Promise<void> {
  const { role } = target.input;
  await setRoles(target, (roles) => [...roles.filter((each) => each !== role), role], terminal);
}

async function remove(target: RoleCall, terminal: Terminal): Promise<void> {
  const { name, input } = target;
  const { roles = [] } = await findExisting(target);
  if (!roles.includes(input.role)) throw new CommandError([`${name} has no role ${input.role}`], 1);
  await setRoles(target, (former) => former.filter((each) => each !== input.role), terminal);
}

async function setRoles(
  target: RoleCall,
  change: (roles: readonly string[]) => readonly string[],
  terminal: Terminal,
): Promise<void> {
  let roles: readonly string[] = [];
  const mark = await changeExisting(target, (user) => {
    roles = change(user.roles ?? []);
    return { ...user, roles };
  });
  const lines = [`user      ${target.name}`, `roles     ${roles.join(', ') || 'none'}`];
  await reportChange(target, mark, { lines }, terminal);
}

async function list(target: RoleCall, terminal: Terminal): Promise<void> {
  const { roles = [] } = await findExisting(target);
  printLines(roles, terminal.stdout);
}

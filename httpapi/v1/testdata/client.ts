// Submits a message with the types that openapi-typescript makes of the contract, lists it, and reads a problem.
import createClient from 'openapi-fetch';
import type {paths} from './api.js';

const client = createClient<paths>({baseUrl: process.env.PMG_URL, headers: {Authorization: 'Bearer ' + process.env.PMG_KEY}});
const one = await client.POST('/v1/messages', {body: {from: 'Shop', to: '+46700000001', text: 'hello', encoding: 'auto', receipt: 'final'}});
if (!one.data) throw new Error(JSON.stringify(one.error));
const page = await client.GET('/v1/messages', {params: {query: {to: '+46700000001', limit: 10}}});
if (page.data?.messages[0]?.id !== one.data.id) throw new Error(JSON.stringify(page));
const none = await client.GET('/v1/messages/{id}', {params: {path: {id: '0000000000000001'}}});
if (none.data) throw new Error(JSON.stringify(none.data));
// @ts-expect-error: the contract has no such member
await client.POST('/v1/messages', {body: {nothing: 1}});
console.log(one.data.id, none.error.type);

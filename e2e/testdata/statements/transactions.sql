create table t (id int primary key)

begin

insert into t values (1)

select count(*) from t

commit

begin; insert into t values (2); rollback

select count(*) from t

begin; insert into t values (2); commit; insert into t values (3)

select id from t order by id

insert into t values (4); insert into t values (4)

select id from t order by id

begin; insert into t values (5); insert into t values (5)

select 1

insert into t values (6)

rollback

select id from t order by id

begin; select 1/0

-- differs: eider answers COMMIT of a failed transaction with an error, a client takes the tag for success
commit

rollback

commit

begin

begin

rollback

begin transaction isolation level repeatable read; show transaction_isolation; commit

begin isolation level serializable read only; show transaction_isolation; rollback

begin read only

insert into t values (9)

rollback

begin read only; create table x (i int)

rollback

start transaction; savepoint a; insert into t values (10); rollback to savepoint a; insert into t values (11); release savepoint a; commit

select id from t order by id

begin; savepoint s1; select 1/0

rollback to s1; select 1; commit

begin; savepoint s1; savepoint s2; insert into t values (12); release s1; rollback to s2

rollback

begin; rollback to nosuch

rollback

savepoint outside

release outside

begin; create table d (i int); insert into d values (1); alter table d add column j int default 2; select * from d; rollback

select * from d

begin; drop table t; create table t (other text); insert into t values ('x'); select * from t; rollback; select count(*) from t

begin; set transaction isolation level repeatable read; select count(*) from t; set transaction isolation level read committed

rollback

set default_transaction_isolation = 'repeatable read'; show transaction_isolation

reset default_transaction_isolation

begin; discard all

rollback

discard all

end

abort

begin; commit and chain

rollback

prepare p as select $1::int + 1; execute p(41); deallocate p

execute p(1)

prepare p2(int, text) as select $1, $2; execute p2(1, 'a'); execute p2('2', 3); deallocate all

declare c cursor for select 1

begin; declare c cursor for select * from generate_series(1, 5); fetch 2 from c; fetch next from c; move 1 from c; fetch all from c; close c; commit

lock table t

begin; lock table t in access share mode; commit

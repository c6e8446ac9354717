#!/usr/bin/env bash
# Make the roles by which the machines of cluster.yaml reach the bucket, once. The head may start machines too, and give
# them theirs.
set -euo pipefail
trust='{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}]}'
for role in augury-head augury-nodes; do
    aws iam create-role --role-name $role --assume-role-policy-document "$trust"
    aws iam attach-role-policy --role-name $role --policy-arn arn:aws:iam::aws:policy/AmazonS3FullAccess    # or one for your bucket alone
    aws iam create-instance-profile --instance-profile-name $role
    aws iam add-role-to-instance-profile --instance-profile-name $role --role-name $role
done
aws iam attach-role-policy --role-name augury-head --policy-arn arn:aws:iam::aws:policy/AmazonEC2FullAccess
aws iam put-role-policy --role-name augury-head --policy-name start-nodes --policy-document '{"Version": "2012-10-17", "Statement":
    [{"Effect": "Allow", "Action": "iam:PassRole", "Resource": "arn:aws:iam::*:role/augury-nodes"}]}'
